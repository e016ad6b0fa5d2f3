import type { Client, ClientOptions } from "graphql-ws";

/**
 * idle: nothing is subscribed to. connecting: for the first time. live: open. lost: the
 * connection broke and is being restored.
 */
export type ConnectionState = "idle" | "connecting" | "live" | "lost";

// All in milliseconds.
const pingInterval = 15_000;
const pongTimeout = 4_000;
const ackTimeout = 8_000;
const longestRetryWait = 8_000;
const longestRestoreWait = 10_000;

const forbidden = 4403;

export interface ConnectionOptions {
  url: string;
  /**
   * Called when the server closed the connection because the session ended. The connection
   * is not restored before the returned promise is fulfilled.
   */
  onSessionEnded: () => Promise<void> | void;
  /** Returns the session's token; without it the browser sends the session's cookie. */
  token?: (() => string | undefined) | undefined;
  webSocket?: unknown;
}

/**
 * The one websocket of an app and its state. It is open while there are subscriptions, and
 * is restored for as long as there are.
 */
export class Connection {
  /** Subscribes; graphql-ws is loaded for the first subscription. */
  readonly client: Pick<Client, "subscribe">;
  private readonly settings: ClientOptions;
  private loading: Promise<Client> | undefined;
  private socketClient: Client | undefined;
  private state: ConnectionState = "idle";
  private readonly listeners = new Set<() => void>();
  private pongTimer: ReturnType<typeof setTimeout> | undefined;
  private wake: (() => void) | undefined;
  private socket: WebSocket | undefined;
  private sessionChecked: Promise<void> | void = undefined;

  constructor(options: ConnectionOptions) {
    const { token } = options;
    const settings: ClientOptions = {
      url: options.url,
      keepAlive: pingInterval,
      connectionAckWaitTimeout: ackTimeout,
      lazyCloseTimeout: 3_000, // a change of page keeps the connection
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
          if (code === forbidden) this.sessionChecked = options.onSessionEnded();
        },
      },
    };
    if (token) {
      settings.connectionParams = () => {
        const bearer = token();
        return bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
      };
    }
    if (options.webSocket) settings.webSocketImpl = options.webSocket;
    this.settings = settings;
    this.client = { subscribe: (payload, sink) => this.open(payload, sink) };
  }

  readonly getState = (): ConnectionState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Reconnects at once, for another session. Every subscription resumes where it was. */
  readonly restart = (): void => {
    this.wake?.();
    if (this.state !== "idle") this.socketClient?.terminate();
  };

  /** Checks at once whether the connection still works, without waiting for a timer. */
  readonly check = (): void => {
    this.wake?.();
    if (this.state !== "live" || this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send('{"type":"ping"}');
    this.expectPong();
  };

  /** Waits until the network is probably back: a connection opened, the browser is online, or ten seconds passed. */
  restored(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        unsubscribe();
        window.removeEventListener("online", done);
        resolve();
      };
      const timer = setTimeout(done, longestRestoreWait);
      const unsubscribe = this.subscribe(() => {
        if (this.state === "live") done();
      });
      window.addEventListener("online", done);
    });
  }

  /** Checks the connection after sleep and after the network was gone. Returns how to stop that. */
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

  private open(...[payload, sink]: Parameters<Client["subscribe"]>): () => void {
    if (this.socketClient) return this.socketClient.subscribe(payload, sink);
    let stopped = false;
    let stop = () => {};
    this.loading ??= this.load();
    this.loading.then(
      (client) => {
        if (!stopped) stop = client.subscribe(payload, sink);
      },
      (error: unknown) => sink.error(error),
    );
    return () => {
      stopped = true;
      stop();
    };
  }

  private async load(): Promise<Client> {
    try {
      const { createClient } = await import("graphql-ws");
      return (this.socketClient = createClient(this.settings));
    } catch (error) {
      this.loading = undefined; // the next subscription tries again
      throw error;
    }
  }

  private expectPong(): void {
    clearTimeout(this.pongTimer);
    this.pongTimer = setTimeout(() => this.socketClient?.terminate(), pongTimeout);
  }

  /** Waits before an attempt to reconnect: exponentially longer, with jitter, and cut short by `check`. */
  private async pause(attempt: number): Promise<void> {
    await this.sessionChecked;
    const wait = Math.min(500 * 2 ** attempt, longestRetryWait) * (0.5 + Math.random() / 2);
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
