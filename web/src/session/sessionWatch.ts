import type { AppClient } from "../api/client.ts";
import { SessionDocument } from "../api/generated.ts";

const channelName = "retwis-session";
const verifyAfter = 1_000;

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
  private timer: ReturnType<typeof setTimeout> | undefined;

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
   * The server hinted that the session has ended: asks it, a little later, who is logged in.
   * A change of password ends the session too, and its answer brings the cookie of a new
   * one. A question that crossed it with the old cookie would get the new one deleted.
   */
  readonly verify = (): void => {
    this.timer ??= setTimeout(() => void this.ask(), verifyAfter);
  };

  private async ask(): Promise<void> {
    try {
      const known = this.client.readQuery({ query: SessionDocument })?.viewer?.id;
      const { data } = await this.client.query({ query: SessionDocument, fetchPolicy: "no-cache" });
      if (data && data.viewer?.id !== known) await this.reset();
    } catch {
      // Out of reach. Whatever is asked next will tell.
    } finally {
      this.timer = undefined;
    }
  }

  private async reset(): Promise<void> {
    await this.client.clearStore();
    this.forget();
    this.epoch++;
    for (const listener of this.listeners) listener();
  }
}
