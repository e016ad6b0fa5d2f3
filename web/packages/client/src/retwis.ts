import type { DocumentNode } from "graphql";
import { createContext, use } from "react";
import { createApolloClient, type RetwisApolloClient } from "./apolloClient.ts";
import { Connection } from "./connection.ts";
import { timelineDocuments, type TimelineDocuments } from "./documents.ts";
import { OwnPosts } from "./ownPosts.ts";
import { Places } from "./places.ts";
import { PostDetails } from "./postDetails.ts";
import { Timelines } from "./timelines.ts";

export interface RetwisOptions {
  /** The address of the API; `/graphql` of the page's own origin if it is left out. */
  url?: string;
  /** Returns the session's token. Apps of the API's own origin use the session's cookie instead. */
  token?: () => string | undefined;
  /** Called when the server no longer accepts the session. Nothing reconnects before the promise is fulfilled. */
  onSessionEnded?: () => Promise<void> | void;
  /** A document with a fragment on Post: fields to select of posts besides those of TimelinePost. */
  postFragment?: DocumentNode;
  /** Sends requests in place of the browser's fetch. */
  fetch?: typeof fetch;
}

/** What an app shares: the Apollo client, the websocket, and the state of its timelines. */
export interface Retwis {
  readonly client: RetwisApolloClient;
  readonly connection: Connection;
  readonly documents: TimelineDocuments;
  readonly ownPosts: OwnPosts;
  readonly timelines: Timelines;
  readonly places: Places;
  readonly details: PostDetails;
  /** Forgets everything read so far and reconnects. Call it after login and logout. */
  readonly sessionChanged: () => Promise<void>;
}

/** Creates the shared state of an app. Nothing connects before a timeline is shown. */
export function createRetwis(options: RetwisOptions = {}): Retwis {
  const url = new URL(options.url ?? "/graphql", location.href);
  const socketUrl = new URL(url);
  socketUrl.protocol = url.protocol.replace("http", "ws");
  const { token } = options;
  const onSessionEnded = options.onSessionEnded ?? (() => {});
  let session = 0;
  const connection = new Connection({ url: socketUrl.href, onSessionEnded, token });
  const client = createApolloClient({
    url: url.href,
    connection,
    token,
    onSessionEnded,
    fetch: options.fetch,
    session: () => session,
  });
  const documents = timelineDocuments(options.postFragment);
  const ownPosts = new OwnPosts();
  const details = new PostDetails(client);
  const timelines = new Timelines(client, documents, ownPosts, connection);
  const places = new Places(() => sessionStorage);
  window.addEventListener("pagehide", places.keep);
  connection.watchPage();
  const sessionChanged = async () => {
    session++;
    await client.clearStore();
    timelines.clear();
    places.clear();
    connection.restart();
  };
  return { client, connection, documents, ownPosts, timelines, places, details, sessionChanged };
}

/** Provides the shared state to the components below. */
export const RetwisContext = createContext<Retwis | undefined>(undefined);

/** Returns the shared state. */
export function useRetwis(): Retwis {
  const retwis = use(RetwisContext);
  if (!retwis) throw new Error("useRetwis needs a RetwisProvider above it");
  return retwis;
}
