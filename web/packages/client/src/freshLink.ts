import { ApolloLink } from "@apollo/client";
import { OperationTypeNode } from "graphql";
import { defer, of, switchMap, tap, type Observable } from "rxjs";

/**
 * An Apollo link that sends a query again if one of some mutations was answered while the query was under way: the server may have
 * answered the query before the mutation, and its answer would undo in the cache what the mutation changed. A query is sent at most twice.
 */
export class FreshLink extends ApolloLink {
  private readonly mutations: ReadonlySet<string>;
  private answered = 0;

  /** Takes the names of the mutations that change what queries return. */
  constructor(mutations: ReadonlySet<string>) {
    super();
    this.mutations = mutations;
  }

  override request(operation: ApolloLink.Operation, forward: ApolloLink.ForwardFunction): Observable<ApolloLink.Result> {
    if (operation.operationType === OperationTypeNode.MUTATION && this.mutations.has(operation.operationName ?? "")) {
      return forward(operation).pipe(tap(() => this.answered++));
    }
    if (operation.operationType !== OperationTypeNode.QUERY) return forward(operation);
    return defer(() => {
      const before = this.answered;
      return forward(operation).pipe(switchMap((result) => (this.answered === before ? of(result) : forward(operation))));
    });
  }
}
