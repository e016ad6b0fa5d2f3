import { renderToString } from "react-dom/server";
import type { DocumentNode } from "graphql";
import type { ReactNode } from "react";
import { createApolloClient } from "../packages/client/src/apolloClient.ts";
import { ViewerTimelinesDocument } from "@retwis/client";
import { AppSkeleton } from "./app/AppSkeleton.tsx";
import type { EarlyRequest, EarlyRequests } from "./early/requests.ts";
import { I18nProvider } from "./i18n/I18n.tsx";
import { loadMessages, type Language } from "./i18n/language.ts";
import { HomePageDocument } from "./pages/Home.documents.ts";
import { PublicPageDocument } from "./pages/Public.documents.ts";
import { Welcome } from "./welcome/Welcome.tsx";

export { languages } from "./i18n/language.ts";

/** What the build puts in the documents of one language. */
export interface Contents {
  noScript: string;
  index: string;
  welcome: string;
  welcomeTitle: string;
  offline: string;
  offlineTitle: string;
}

/** Renders the static contents of the documents. */
export async function render(language: Language): Promise<Contents> {
  const messages = await loadMessages(language);
  const inLanguage = (page: ReactNode) =>
    renderToString(
      <I18nProvider language={language} messages={messages}>
        {page}
      </I18nProvider>,
    );
  return {
    noScript: messages.noScript,
    index: inLanguage(<AppSkeleton />),
    // React hoists the title to the start; it belongs in the head, from which React adopts it.
    welcome: inLanguage(<Welcome onLoggedIn={async () => {}} />).replace(/<title>.*?<\/title>/, ""),
    welcomeTitle: messages.welcome.title,
    offline: renderToString(
      <>
        <h1>{messages.offline.title}</h1>
        <p>{messages.offline.text}</p>
        <button type="button">{messages.tryAgain}</button>
      </>,
    ),
    offlineTitle: messages.offline.title,
  };
}

/** Returns the requests that pages send first, by their paths, with those of all other pages under "*". */
export async function earlyRequests(): Promise<EarlyRequests> {
  const viewer = await record(ViewerTimelinesDocument);
  return {
    "*": [viewer],
    "/": [viewer, await record(HomePageDocument)],
    "/public": [viewer, await record(PublicPageDocument)],
  };
}

async function record(query: DocumentNode): Promise<EarlyRequest> {
  const requests: EarlyRequest[] = [];
  const client = createApolloClient({
    url: "/graphql",
    connection: { client: { subscribe: () => () => {} }, restored: async () => {} },
    onSessionEnded: () => {},
    session: () => 0,
    fetch: async (_, init) => {
      requests.push({ headers: init?.headers as Record<string, string>, body: String(init?.body) });
      return new Response('{"data":{}}', { headers: { "content-type": "application/json" } });
    },
  });
  await client.query({ query, fetchPolicy: "no-cache", errorPolicy: "ignore" });
  const [request] = requests;
  if (!request) throw new Error("Apollo Client sent no request");
  return request;
}
