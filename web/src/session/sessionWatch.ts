import type { AppClient } from "../api/client.ts";
import { SessionDocument } from "../api/generated.ts";

const channelName = "retwis-session";
const verifyAfter = 1_000; // ms
const longestPause = 15_000;

/**
 * Keeps all tabs of one mind about who is logged in. When that changes, wherever, what was
 * read as somebody else is forgotten and everything is shown anew.
 */
export class SessionWatch {
  private readonly client: AppClient;
  private readonly forget: () => void;
  private readonly channel: BroadcastChannel | undefined;
  private readonly listeners = new Set<() => void>();
  private epoch = 0;
  private verifying: Promise<void> | undefined;

  /** `forget` drops what other parts remember of the old session. */
  constructor(client: AppClient, forget: () => void) {
    this.client = client;
    this.forget = forget;
    if (typeof BroadcastChannel !== "undefined") {
      this.channel = new BroadcastChannel(channelName);
      this.channel.onmessage = () => void this.reset();
    }
  }

  /** Counts the sessions that this tab has seen. */
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
   * The server hinted that the session has ended: asks it, a little later, who is logged in,
   * until it answers. Fulfilled when that is known and shown.
   *
   * A change of password ends the session too, and its answer brings the cookie of a new
   * one. A question that crossed it with the old cookie would get the new one deleted.
   */
  readonly verify = (): Promise<void> => {
    this.verifying ??= this.ask().finally(() => (this.verifying = undefined));
    return this.verifying;
  };

  private async ask(): Promise<void> {
    const { epoch } = this;
    for (let pause = verifyAfter; ; pause = Math.min(pause * 2, longestPause)) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (this.epoch !== epoch) return; // somebody logged in or out meanwhile
      try {
        const known = this.client.readQuery({ query: SessionDocument })?.viewer?.id;
        const { data } = await this.client.query({ query: SessionDocument, fetchPolicy: "no-cache" });
        if (this.epoch !== epoch) return;
        if (data && data.viewer?.id !== known) await this.reset();
        return;
      } catch {
        // Out of reach.
      }
    }
  }

  private async reset(): Promise<void> {
    await this.client.clearStore();
    this.forget();
    this.epoch++;
    for (const listener of this.listeners) listener();
  }
}
