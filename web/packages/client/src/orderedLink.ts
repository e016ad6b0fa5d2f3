import { ApolloLink } from "@apollo/client";
import { defer, finalize, from, of, switchMap, throwError, type Observable } from "rxjs";

/**
 * An Apollo link that sends some mutations of the same post or user one after the other: the server may run two requests that are under
 * way together in any order, so that the first of two quick clicks could win. A mutation is sent when the one before it was answered or
 * has failed. Mutations of different posts and users do not wait for each other.
 */
export class OrderedLink extends ApolloLink {
  private readonly mutations: ReadonlySet<string>;
  private readonly current: (operation: ApolloLink.Operation) => boolean;
  /** Fulfilled when the last mutation of a subject is over. */
  private readonly last = new Map<string, Promise<unknown>>();

  /** Takes the names of the mutations, and whether the session of an operation that has waited is still the current one; if not, it fails. */
  constructor(mutations: ReadonlySet<string>, current: (operation: ApolloLink.Operation) => boolean) {
    super();
    this.mutations = mutations;
    this.current = current;
  }

  override request(operation: ApolloLink.Operation, forward: ApolloLink.ForwardFunction): Observable<ApolloLink.Result> {
    if (!this.mutations.has(operation.operationName ?? "")) return forward(operation);
    const { postId, userId } = operation.variables as { postId?: string; userId?: string };
    const subject = JSON.stringify([postId, userId]);
    return defer(() => {
      const before = this.last.get(subject);
      let end = () => {};
      const own = new Promise<void>((resolve) => (end = resolve));
      const over = Promise.all([before, own]);
      this.last.set(subject, over);
      const turn = before ? from(before) : of(undefined);
      return turn.pipe(
        switchMap(() => (this.current(operation) ? forward(operation) : throwError(() => new Error("The session ended before the change was sent.")))),
        finalize(() => {
          end();
          if (this.last.get(subject) === over) this.last.delete(subject);
        }),
      );
    });
  }
}
