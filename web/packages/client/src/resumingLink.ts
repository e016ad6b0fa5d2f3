/**
 * An Apollo link for subscriptions that resume after a lost connection.
 *
 * graphql-ws reconnects by itself and sends each subscription again as it was first sent:
 * with the original `after`, which repeats every event since, or without one, which skips
 * the events in between. This link keeps `after` at the cursor of the last event received.
 * The server then replays exactly the missed events.
 *
 * The file depends on nothing else of this package. A subscription has to declare a
 * variable `$after`, pass it on, and select `cursor`:
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
      // graphql-ws serialises this object anew each time it connects.
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

/** The cursor of an event, from the only field of a subscription. */
function cursorOf(data: unknown): string | undefined {
  if (!isRecord(data)) return undefined;
  const event = Object.values(data)[0];
  return isRecord(event) && typeof event["cursor"] === "string" ? event["cursor"] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Converts errors: graphql-ws reports GraphQL errors as an array and a lost connection as its close event. */
function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  if (Array.isArray(reason)) return new CombinedGraphQLErrors({ errors: reason });
  const code = isRecord(reason) && typeof reason["code"] === "number" ? ` (${reason["code"]})` : "";
  return new Error(`The connection was closed${code}`, { cause: reason });
}
