import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * A way to the server that can be cut. The browser's own offline mode leaves websockets
 * open; this does to them what a dead network does.
 */
export class Proxy {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  private readonly server;
  private readonly target: URL;

  private constructor(target: URL) {
    this.target = target;
    this.server = createServer((client) => this.join(client));
  }

  static async to(url: string): Promise<Proxy> {
    const proxy = new Proxy(new URL(url));
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Breaks all connections and refuses new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  restore(): void {
    this.isCut = false;
  }

  stop(): void {
    this.cut();
    this.server.close();
  }

  private join(client: Socket): void {
    if (this.isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(this.target.port), this.target.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}
