import { createRetwis, type Retwis } from "@retwis/client";
import { createContext, use } from "react";
import { SessionWatch } from "../session/sessionWatch.ts";
import { fetchEarly } from "./earlyRequests.ts";

/** What the components of the app share. */
export interface Services extends Retwis {
  session: SessionWatch;
}

/** Creates the services. Nothing connects before a component needs it. */
export function createServices(): Services {
  const retwis = createRetwis({ onSessionEnded: () => session.verify(), fetch: fetchEarly });
  const session = new SessionWatch(retwis.client, retwis.sessionChanged);
  return { ...retwis, session };
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (!services) throw new Error("useServices needs a ServicesContext above it");
  return services;
}
