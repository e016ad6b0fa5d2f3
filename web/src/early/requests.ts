/** A request as Apollo Client sends it. */
export interface EarlyRequest {
  headers: Record<string, string>;
  body: string;
}

/** The first requests of pages, by their paths, with those of all other pages under "*". The first one reads the viewer, and the last one of a page its timeline. */
export type EarlyRequests = Record<string, readonly EarlyRequest[]>;

declare global {
  interface Window {
    /** The responses to requests that the page sent before the app was loaded, by the requests' bodies. */
    earlyRequests?: Map<string, Promise<Response>>;
  }
}
