import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeNetwork } from "./testing/fakeSocket.ts";
import { Connection } from "./connection.ts";

let network: FakeNetwork;
let connection: Connection;
let ended: number;
let verified: () => void;
let stop: () => void;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", { OPEN: 1 });
  network = new FakeNetwork();
  ended = 0;
  const onSessionEnded = () => {
    ended++;
    return new Promise<void>((resolve) => (verified = resolve));
  };
  connection = new Connection({ url: "ws://server.test", onSessionEnded, webSocket: network.WebSocket });
  expect(connection.getState()).toBe("idle");
  stop = connection.client.subscribe({ query: "subscription { x }" }, { next() {}, error() {}, complete() {} });
  await vi.dynamicImportSettled(); // graphql-ws is loaded on demand
  await vi.advanceTimersByTimeAsync(1);
});
afterEach(() => {
  stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function accept(): Promise<void> {
  network.last.open();
  await vi.advanceTimersByTimeAsync(1);
  network.last.receive({ type: "connection_ack" });
  await vi.advanceTimersByTimeAsync(1);
}

test("reports its state", async () => {
  expect(connection.getState()).toBe("connecting");
  await accept();
  expect(connection.getState()).toBe("live");
  network.last.lose();
  expect(connection.getState()).toBe("lost");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(network.sockets).toHaveLength(2);
  expect(connection.getState()).toBe("lost");
  await accept();
  expect(connection.getState()).toBe("live");
});

test("closes some time after the last subscription ended", async () => {
  await accept();
  stop();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(connection.getState()).toBe("live");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(connection.getState()).toBe("idle");
});

test("gives up a connection that answers no ping", async () => {
  await accept();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(network.last.sent.at(-1)?.type).toBe("ping");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(connection.getState()).toBe("lost");
});

test("keeps a connection that answers pings", async () => {
  await accept();
  for (let i = 0; i < 5; i++) {
    await vi.advanceTimersByTimeAsync(15_000);
    network.last.receive({ type: "pong" });
  }
  await vi.advanceTimersByTimeAsync(10_000);
  expect(network.sockets).toHaveLength(1);
  expect(connection.getState()).toBe("live");
});

test("is checked at once when the browser is online again", async () => {
  await accept();
  const unwatch = connection.watchPage();
  window.dispatchEvent(new Event("online"));
  expect(network.last.sent.at(-1)?.type).toBe("ping");
  await vi.advanceTimersByTimeAsync(4_100);
  expect(connection.getState()).toBe("lost");
  unwatch();
});

test("reconnects at once when a check interrupts the pause", async () => {
  await accept();
  for (let i = 0; i < 5; i++) {
    network.last.lose();
    await vi.advanceTimersByTimeAsync(10_000);
  }
  const before = network.sockets.length;
  network.last.lose();
  await vi.advanceTimersByTimeAsync(1);
  connection.check();
  await vi.advanceTimersByTimeAsync(1);
  expect(network.sockets).toHaveLength(before + 1);
});

test("does not reconnect after the session ended, before it is known who is logged in", async () => {
  await accept();
  network.last.lose(4403);
  expect(ended).toBe(1);
  expect(connection.getState()).toBe("lost");
  connection.check(); // which the page may do at any time
  await vi.advanceTimersByTimeAsync(60_000);
  expect(network.sockets).toHaveLength(1);
  verified();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(network.sockets).toHaveLength(2);
  await accept();
  expect(connection.getState()).toBe("live");
});

test("does not reconnect after the session ended without subscriptions", async () => {
  await accept();
  network.last.lose(4403);
  stop();
  verified();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(network.sockets).toHaveLength(1);
});
