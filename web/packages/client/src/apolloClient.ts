import { ApolloClient, ApolloLink, HttpLink } from "@apollo/client";
import { ErrorLink } from "@apollo/client/link/error";
import { RetryLink } from "@apollo/client/link/retry";
import { OperationTypeNode } from "graphql";
import { RetwisCache } from "./cache.ts";
import type { Connection } from "./connection.ts";
import { hasCode, isUnreachable } from "./errors.ts";
import { FreshLink } from "./freshLink.ts";
import { OrderedLink } from "./orderedLink.ts";
import { ResumingLink } from "./resumingLink.ts";

/** How long a request may take, in milliseconds. */
const deadline = 15_000;

/** How often a request is tried before it is reported as failed. */
const attempts = 3;

/** Mutations that change what queries return about posts and users. */
const changing = new Set(["DeletePost", "FollowUser", "UnfollowUser", "ShowReposts", "LikePost", "UnlikePost", "RepostPost", "UndoRepost"]);

/** Mutations that may be sent again after their answer was lost: a repeat has no effect. */
const repeatable = new Set([...changing, "CreatePost", "MarkTimelineRead"]);

/** Mutations that wait for the network instead of failing. */
const patient = new Set(["CreatePost"]);

export interface ApolloOptions {
  url: string;
  connection: { readonly client: Pick<Connection["client"], "subscribe">; restored: () => Promise<void> };
  /** Returns the session's token; without it the browser sends the session's cookie. */
  token?: (() => string | undefined) | undefined;
  /** Sends requests in place of the browser's fetch. */
  fetch?: typeof fetch | undefined;
  /** Called when the server no longer accepts the session. */
  onSessionEnded: () => void;
  /** Returns a number that changes with the session. Requests of an earlier session are not repeated. */
  session: () => number;
}

export type RetwisApolloClient = ApolloClient & { cache: RetwisCache };

/** Creates the Apollo client: subscriptions use the websocket, all else uses HTTP. */
export function createApolloClient(options: ApolloOptions): RetwisApolloClient {
  const { url, connection, token, onSessionEnded, session } = options;
  const send = options.fetch ?? fetch;
  const sessionErrors = new ErrorLink(({ error, operation }) => {
    const refused = hasCode(error, "UNAUTHENTICATED") || hasCode(error, "FORBIDDEN");
    if (refused && operation.operationName !== "Login") onSessionEnded();
  });
  const identify = new ApolloLink((operation, forward) => {
    const bearer = token?.();
    operation.setContext(({ headers }: { headers?: Record<string, string> }) => ({
      session: session(),
      headers: bearer === undefined ? headers : { ...headers, authorization: `Bearer ${bearer}` },
    }));
    return forward(operation);
  });
  const current = (operation: ApolloLink.Operation) => operation.getContext()["session"] === session();
  const retry = new RetryLink({
    delay: { initial: 400, max: 3_000, jitter: true },
    attempts: async (count, operation, error) => {
      const name = operation.operationName ?? "";
      if (hasCode(error, "UNAUTHENTICATED")) return false;
      if (operation.operationType !== OperationTypeNode.QUERY && !repeatable.has(name)) return false;
      if (count >= attempts) {
        if (!patient.has(name) || !isUnreachable(error)) return false;
        await connection.restored();
      }
      return current(operation);
    },
  });
  const http = new HttpLink({ uri: url, credentials: "same-origin", fetch: (input, init) => fetchWithDeadline(send, input, init) });
  return new ApolloClient({
    cache: new RetwisCache(),
    dataMasking: true,
    link: sessionErrors.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new ResumingLink(connection.client),
      ApolloLink.from([new FreshLink(changing), identify, new OrderedLink(changing, current), retry, http]),
    ),
  }) as RetwisApolloClient;
}

function fetchWithDeadline(send: typeof fetch, input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const late = AbortSignal.timeout(deadline);
  return send(input, { ...init, signal: init.signal ? AbortSignal.any([init.signal, late]) : late });
}
