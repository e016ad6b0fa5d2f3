import { ApolloClient, ApolloLink, HttpLink } from "@apollo/client";
import { ErrorLink } from "@apollo/client/link/error";
import { RetryLink } from "@apollo/client/link/retry";
import { OperationTypeNode } from "graphql";
import type { Connection } from "../live/connection.ts";
import { ResumingLink } from "../live/resumingLink.ts";
import { AppCache } from "./cache.ts";
import { hasCode } from "./errors.ts";

/** How long a request may take. */
const deadline = 15_000;

/** What may be sent again when an answer was lost: it makes no difference there. */
const repeatable = new Set(["CreatePost", "DeletePost", "FollowUser", "UnfollowUser"]);

export interface ClientOptions {
  url: string;
  connection: Connection;
  /** Called when the server no longer knows who is logged in. */
  onSessionEnded: () => void;
}

export type AppClient = ApolloClient & { cache: AppCache };

/** The Apollo client: subscriptions over the websocket, all else over HTTP. */
export function createAppClient({ url, connection, onSessionEnded }: ClientOptions): AppClient {
  // To a session that has ended, what was its viewer's is somebody else's.
  const noticing = new ErrorLink(({ error, operation }) => {
    const refused = hasCode(error, "UNAUTHENTICATED") || hasCode(error, "FORBIDDEN");
    if (refused && operation.operationName !== "Login") onSessionEnded();
  });
  const http = ApolloLink.from([
    new RetryLink({
      delay: { initial: 400, max: 3_000, jitter: true },
      attempts: {
        max: 3,
        retryIf: (error, operation) =>
          !hasCode(error, "UNAUTHENTICATED") &&
          (operation.operationType === OperationTypeNode.QUERY || repeatable.has(operation.operationName ?? "")),
      },
    }),
    new HttpLink({ uri: url, credentials: "same-origin", fetch: fetchWithDeadline }),
  ]);
  return new ApolloClient({
    cache: new AppCache(),
    dataMasking: true,
    link: noticing.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new ResumingLink(connection.client),
      http,
    ),
  }) as AppClient;
}

function fetchWithDeadline(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const late = AbortSignal.timeout(deadline);
  return fetch(input, { ...init, signal: init.signal ? AbortSignal.any([init.signal, late]) : late });
}
