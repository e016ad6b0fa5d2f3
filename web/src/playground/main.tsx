import "graphiql/setup-workers/vite";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import "graphiql/style.css";
import { createClient } from "graphql-ws";
import { createRoot } from "react-dom/client";
import "./playground.css";
import { starterTabs, welcome } from "./tabs.ts";

// The session's cookie goes along with both.
const url = new URL("/graphql", location.href);
const socketUrl = new URL(url);
socketUrl.protocol = url.protocol.replace("http", "ws");

const fetcher = createGraphiQLFetcher({
  url: url.href,
  wsClient: createClient({ url: socketUrl.href, retryAttempts: 3 }),
});

const root = document.getElementById("root");
if (!root) throw new Error("the page has no element with the id root");
createRoot(root).render(
  <GraphiQL fetcher={fetcher} defaultTabs={starterTabs} defaultQuery={welcome} defaultEditorToolsVisibility="variables" schemaDescription>
    <GraphiQL.Logo>
      <a href="/">Retwis</a>
    </GraphiQL.Logo>
  </GraphiQL>,
);
