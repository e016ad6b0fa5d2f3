import { createClient, type Client, type ClientOptions } from "graphql-ws";

/**
 * idle: nothing is watched. connecting: for the first time. live: open. lost: it broke
 * and is being restored.
 */
export type ConnectionState = "idle" | "connecting" | "live" | "lost";

const pingEvery = 15_000;
const pongWithin = 4_000;
const ackWithin = 8_000;
const longestWait = 8_000;

const forbidden = 4403;

export interface ConnectionOptions {
  url: string;
  /**
   * Called when the server closed the connection because the session ended. It finds out who
   * is logged in now; until it has, nothing connects with what the server has just refused.
   */
  onSessionEnded: () => Promise<void>;
  webSocket?: unknown;
}

/**
 * The one websocket of the app, with what can be known about its state. It lives while
 * something is watched, and is restored for as long as that lasts.
 */
export class Connection {
  readonly client: Client;
  private state: ConnectionState = "idle";
  private readonly listeners = new Set<() => void>();
  private pongTimer: ReturnType<typeof setTimeout> | undefined;
  private wake: (() => void) | undefined;
  private socket: WebSocket | undefined;
  private verified: Promise<void> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    const settings: ClientOptions = {
      url: options.url,
      keepAlive: pingEvery,
      connectionAckWaitTimeout: ackWithin,
      lazyCloseTimeout: 3_000, // going from page to page keeps the connection
      retryAttempts: Infinity,
      shouldRetry: () => true,
      retryWait: (attempt) => this.pause(attempt),
      on: {
        connecting: (again) => this.change(again || this.state === "lost" ? "lost" : "connecting"),
        opened: (socket) => {
          this.socket = socket as WebSocket;
        },
        connected: () => this.change("live"),
        ping: (received) => {
          if (!received) this.expectPong();
        },
        pong: (received) => {
          if (received) clearTimeout(this.pongTimer);
        },
        closed: (event) => {
          clearTimeout(this.pongTimer);
          this.socket = undefined;
          const { code } = event as CloseEvent;
          this.change(code === 1000 ? "idle" : "lost");
          if (code === forbidden) this.verified = options.onSessionEnded();
        },
      },
    };
    if (options.webSocket) settings.webSocketImpl = options.webSocket;
    this.client = createClient(settings);
  }

  readonly getState = (): ConnectionState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Connects anew at once, as somebody else may be logged in now. */
  readonly restart = (): void => {
    this.wake?.();
    if (this.state !== "idle") this.client.terminate();
  };

  /**
   * Finds out at once whether the connection still works: after sleep, or when the network
   * is back, neither waits for a timer.
   */
  readonly check = (): void => {
    this.wake?.();
    if (this.state !== "live" || this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send('{"type":"ping"}');
    this.expectPong();
  };

  /** Checks whenever the page has reason to. Returns how to stop that. */
  watchPage(): () => void {
    const visible = () => {
      if (document.visibilityState === "visible") this.check();
    };
    window.addEventListener("online", this.check);
    window.addEventListener("pageshow", this.check);
    document.addEventListener("visibilitychange", visible);
    return () => {
      window.removeEventListener("online", this.check);
      window.removeEventListener("pageshow", this.check);
      document.removeEventListener("visibilitychange", visible);
    };
  }

  private expectPong(): void {
    clearTimeout(this.pongTimer);
    this.pongTimer = setTimeout(() => this.client.terminate(), pongWithin);
  }

  /** Longer from attempt to attempt, never the same for all clients, and cut short by `check`. */
  private async pause(attempt: number): Promise<void> {
    await this.verified;
    const wait = Math.min(500 * 2 ** attempt, longestWait) * (0.5 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private change(state: ConnectionState): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}
