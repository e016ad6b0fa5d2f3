import { createContext, use } from "react";
import { createAppClient, type AppClient } from "../api/client.ts";
import { Connection } from "../live/connection.ts";
import { SessionWatch } from "../session/sessionWatch.ts";
import { OwnPosts } from "../timeline/ownPosts.ts";
import { Places } from "../timeline/places.ts";
import { Timelines } from "../timeline/timelines.ts";

/** What the app is made of, besides what is on the screen. */
export interface Services {
  client: AppClient;
  connection: Connection;
  session: SessionWatch;
  ownPosts: OwnPosts;
  timelines: Timelines;
  places: Places;
}

/** Puts the services together. Nothing connects before something is shown that needs it. */
export function createServices(): Services {
  const url = new URL("/graphql", location.href);
  const socketUrl = new URL(url);
  socketUrl.protocol = url.protocol.replace("http", "ws");
  const onSessionEnded = () => session.verify();
  const connection = new Connection({ url: socketUrl.href, onSessionEnded });
  const client = createAppClient({ url: url.href, connection, onSessionEnded });
  const ownPosts = new OwnPosts();
  const timelines = new Timelines(client, ownPosts, connection);
  const places = new Places(() => sessionStorage);
  window.addEventListener("pagehide", places.keep);
  const session = new SessionWatch(client, () => {
    timelines.clear();
    places.clear();
    connection.restart();
  });
  return { client, connection, session, ownPosts, timelines, places };
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (!services) throw new Error("there are no services above this component");
  return services;
}
