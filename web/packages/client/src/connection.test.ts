import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeNetwork } from "../testing/fakeSocket.ts";
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

test("it says how it stands", async () => {
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

test("it closes a while after nothing is watched any more", async () => {
  await accept();
  stop();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(connection.getState()).toBe("live");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(connection.getState()).toBe("idle");
});

test("a connection that answers no ping is given up", async () => {
  await accept();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(network.last.sent.at(-1)?.type).toBe("ping");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(connection.getState()).toBe("lost");
});

test("one that answers stays", async () => {
  await accept();
  for (let i = 0; i < 5; i++) {
    await vi.advanceTimersByTimeAsync(15_000);
    network.last.receive({ type: "pong" });
  }
  await vi.advanceTimersByTimeAsync(10_000);
  expect(network.sockets).toHaveLength(1);
  expect(connection.getState()).toBe("live");
});

test("after sleep it is checked at once", async () => {
  await accept();
  const unwatch = connection.watchPage();
  window.dispatchEvent(new Event("online"));
  expect(network.last.sent.at(-1)?.type).toBe("ping");
  await vi.advanceTimersByTimeAsync(4_100);
  expect(connection.getState()).toBe("lost");
  unwatch();
});

test("while it waits to try again, the network's return cuts the wait short", async () => {
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

test("a session that has ended is not tried again before it is known who is logged in", async () => {
  await accept();
  network.last.lose(4403);
  expect(ended).toBe(1);
  expect(connection.getState()).toBe("lost");
  connection.check(); // the wake-up call of the page changes nothing about that
  await vi.advanceTimersByTimeAsync(60_000);
  expect(network.sockets).toHaveLength(1);
  verified();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(network.sockets).toHaveLength(2);
  await accept();
  expect(connection.getState()).toBe("live");
});

test("when nothing is watched any more after that, nothing connects", async () => {
  await accept();
  network.last.lose(4403);
  stop();
  verified();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(network.sockets).toHaveLength(1);
});
