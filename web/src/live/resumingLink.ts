/**
 * An Apollo link for subscriptions that go on where they broke off.
 *
 * graphql-ws connects again by itself after a loss, and sends each subscription again as
 * it was first sent: with the `after` of back then, so that everything since would come
 * twice, or with none, so that everything meanwhile would be missed. This link keeps
 * `after` at the cursor of the last event that arrived. Then the server replays exactly
 * what was missed.
 *
 * It needs nothing else of this app: copy the file into any other. A subscription has to
 * declare a variable `$after`, pass it on, and select `cursor`:
 *
 *     subscription Watch($timelineId: ID!, $after: Cursor) {
 *       timelineEvents(timelineId: $timelineId, after: $after) {
 *         cursor
 *         ... on PostAdded { edge { cursor node { id text } } }
 *       }
 *     }
 *
 *     const socket = createClient({ url, retryAttempts: Infinity, shouldRetry: () => true });
 *     const link = ApolloLink.split(
 *       ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
 *       new ResumingLink(socket),
 *       new HttpLink({ uri }),
 *     );
 */
import { ApolloLink, CombinedGraphQLErrors } from "@apollo/client";
import { print } from "graphql";
import type { Client } from "graphql-ws";
import { Observable } from "rxjs";

export class ResumingLink extends ApolloLink {
  private readonly socket: Pick<Client, "subscribe">;

  constructor(socket: Pick<Client, "subscribe">) {
    super();
    this.socket = socket;
  }

  override request(operation: ApolloLink.Operation): Observable<ApolloLink.Result> {
    return new Observable((observer) => {
      // graphql-ws serialises this very object each time it connects.
      const variables: Record<string, unknown> = { ...operation.variables };
      const payload = {
        operationName: operation.operationName ?? null,
        query: print(operation.query),
        variables,
      };
      return this.socket.subscribe(payload, {
        next(result) {
          const cursor = cursorOf(result.data);
          if (cursor !== undefined) variables["after"] = cursor;
          observer.next(result as ApolloLink.Result);
        },
        error(reason) {
          observer.error(toError(reason));
        },
        complete() {
          observer.complete();
        },
      });
    });
  }
}

/** The cursor of an event: that of the one field a subscription has. */
function cursorOf(data: unknown): string | undefined {
  if (!isRecord(data)) return undefined;
  const event = Object.values(data)[0];
  return isRecord(event) && typeof event["cursor"] === "string" ? event["cursor"] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** graphql-ws reports errors of GraphQL as an array, a lost connection as its close event. */
function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  if (Array.isArray(reason)) return new CombinedGraphQLErrors({ errors: reason });
  const code = isRecord(reason) && typeof reason["code"] === "number" ? ` (${reason["code"]})` : "";
  return new Error(`The connection was closed${code}`, { cause: reason });
}
