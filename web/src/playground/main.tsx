import "graphiql/setup-workers/vite";
import { useGraphiQL } from "@graphiql/react";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import "graphiql/style.css";
import { createClient } from "graphql-ws";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";
import { keepEvents } from "./events.ts";
import "./playground.css";
import { starterTabs, welcome } from "./tabs.ts";

// The session's cookie goes along with both.
const url = new URL("/graphql", location.href);
const socketUrl = new URL(url);
socketUrl.protocol = url.protocol.replace("http", "ws");

const fetcher = keepEvents(
  createGraphiQLFetcher({
    url: url.href,
    wsClient: createClient({ url: socketUrl.href, retryAttempts: 3 }),
  }),
);

/** Has the editors wrap lines that are wider than they are. */
function WrapLines(): null {
  const { queryEditor, responseEditor } = useGraphiQL(({ queryEditor, responseEditor }) => ({ queryEditor, responseEditor }));
  useEffect(() => {
    for (const editor of [queryEditor, responseEditor]) editor?.updateOptions({ wordWrap: "on" });
  }, [queryEditor, responseEditor]);
  return null;
}

const root = document.getElementById("root");
if (!root) throw new Error("the page has no element with the id root");
createRoot(root).render(
  <GraphiQL fetcher={fetcher} defaultTabs={starterTabs} defaultQuery={welcome} defaultEditorToolsVisibility="variables" schemaDescription>
    <GraphiQL.Logo>
      <a href="/">Retwis</a>
      <WrapLines />
    </GraphiQL.Logo>
  </GraphiQL>,
);
