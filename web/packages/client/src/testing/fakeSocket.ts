/** The sockets that a client has opened, and what it sent over them. */
export class FakeNetwork {
  readonly sockets: FakeSocket[] = [];
  readonly WebSocket: unknown;

  constructor() {
    const { sockets } = this;
    this.WebSocket = class extends FakeSocket {
      constructor() {
        super();
        sockets.push(this);
      }
    };
  }

  get last(): FakeSocket {
    const last = this.sockets.at(-1);
    if (!last) throw new Error("nothing has connected yet");
    return last;
  }
}

/** A websocket whose other end is the test. */
export class FakeSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;

  readyState = FakeSocket.CONNECTING;
  readonly sent: { type: string; id?: string; payload?: { variables: Record<string, unknown> } }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string; wasClean: boolean }) => void) | null = null;
  onerror: ((error: unknown) => void) | null = null;

  send(data: string): void {
    this.sent.push(JSON.parse(data) as FakeSocket["sent"][number]);
  }

  close(code = 1000): void {
    this.lose(code);
  }

  /** The server accepts the connection. */
  open(): void {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
  }

  receive(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** The connection ends. */
  lose(code = 1006): void {
    if (this.readyState === FakeSocket.CLOSED) return;
    this.readyState = FakeSocket.CLOSED;
    this.onclose?.({ code, reason: "", wasClean: false });
  }

  /** What was subscribed to, as of the last message about that. */
  get subscribed(): { id?: string; payload?: { variables: Record<string, unknown> } } | undefined {
    return this.sent.findLast(({ type }) => type === "subscribe");
  }
}
