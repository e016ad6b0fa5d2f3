import { ApolloProvider } from "@apollo/client/react";
import type { ReactNode } from "react";
import { RetwisContext, type Retwis } from "./retwis.ts";

/** Provides the shared state, and its Apollo client, to the components below. */
export function RetwisProvider({ retwis, children }: { retwis: Retwis; children: ReactNode }) {
  return (
    <RetwisContext value={retwis}>
      <ApolloProvider client={retwis.client}>{children}</ApolloProvider>
    </RetwisContext>
  );
}
