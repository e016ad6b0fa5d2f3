import { ViewerTimelinesDocument, type RetwisApolloClient } from "@retwis/client";
import { sessionChannel } from "./channel.ts";
import { expectedViewer } from "./expectation.ts";

// In milliseconds.
const verifyDelay = 1_000;
const longestPause = 15_000;

/**
 * Keeps the tabs of a browser consistent about who is logged in. When the session changes in
 * any of them, each forgets what it read and shows everything again.
 */
export class SessionWatch {
  private readonly client: RetwisApolloClient;
  private readonly forget: () => Promise<void>;
  private readonly channel: BroadcastChannel | undefined;
  private readonly listeners = new Set<() => void>();
  private epoch = 0;
  private verifying: Promise<void> | undefined;

  /** `forget` removes everything that was read in the old session. */
  constructor(client: RetwisApolloClient, forget: () => Promise<void>) {
    this.client = client;
    this.forget = forget;
    if (typeof BroadcastChannel !== "undefined") {
      this.channel = new BroadcastChannel(sessionChannel);
      this.channel.onmessage = () => void this.reset();
    }
  }

  /** Returns the number of sessions that this tab has seen. */
  readonly getEpoch = (): number => this.epoch;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** This tab has logged in or out. */
  async changed(): Promise<void> {
    this.channel?.postMessage("changed");
    await this.reset();
  }

  /**
   * Asks the server who is logged in, after a sign that the session has ended, until it
   * answers. The promise is fulfilled when the answer is shown.
   *
   * It waits first: a change of password ends the session and sets the cookie of a new one. A
   * request with the old cookie at the same time would delete the new cookie.
   */
  readonly verify = (): Promise<void> => {
    this.verifying ??= this.askServer().finally(() => (this.verifying = undefined));
    return this.verifying;
  };

  /**
   * The page came back from the browser's cache of pages. If the session has changed meanwhile, the page is hidden
   * before it is painted, and read again.
   */
  readonly returned = (): void => {
    const shown = this.client.readQuery({ query: ViewerTimelinesDocument })?.viewer?.id ?? null;
    if (shown === expectedViewer()) return;
    document.documentElement.hidden = true;
    location.reload();
  };

  private async askServer(): Promise<void> {
    const { epoch } = this;
    for (let pause = verifyDelay; ; pause = Math.min(pause * 2, longestPause)) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (this.epoch !== epoch) return; // the session changed meanwhile
      try {
        const known = this.client.readQuery({ query: ViewerTimelinesDocument })?.viewer?.id;
        const { data } = await this.client.query({ query: ViewerTimelinesDocument, fetchPolicy: "no-cache" });
        if (this.epoch !== epoch) return;
        if (data && data.viewer?.id !== known) await this.reset();
        return;
      } catch {
        // The server is unreachable.
      }
    }
  }

  private async reset(): Promise<void> {
    await this.forget();
    this.epoch++;
    for (const listener of this.listeners) listener();
  }
}
