import assert from 'node:assert/strict';
import { Reader, post, register, until } from './service.mjs';

/**
 * resumesElsewhere reads a home over a process that ends, and goes on at another one: every post arrives
 * once, in order. `connect` makes a client that takes whichever server is named at the time, and has to try
 * again without an end, since how long a process takes to end is not the client's to know.
 */
export async function resumesElsewhere(service, signal, connect) {
  const [first, second] = [await service.serve(), await service.serve()];
  const token = await register(first, signal);
  const where = { server: first };
  const client = connect(where, token);
  const reader = new Reader();
  client.subscribe(reader.payload, reader.sink);
  await until(() => reader.caughtUp === 1);
  const posts = [await post(first, token, 'before')];
  await until(() => reader.texts.length === 1);
  await first.end(signal);
  for (let i = 0; i < 5; i++) posts.push(await post(second, token, `meanwhile ${i}`));
  where.server = second;
  await until(() => reader.caughtUp === 2);
  posts.push(await post(second, token, 'after'));
  await until(() => reader.texts.length >= posts.length);
  assert.deepEqual(reader.texts, posts);
  assert.deepEqual(reader.errors, []);
  await client.dispose();
  await second.end('SIGTERM');
}
