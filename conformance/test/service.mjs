// The program under test, on a redis-server of its own, as many processes as a test wants.
import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// `npm test` builds it.
const binary = process.env.PROGRAM;
if (!binary) throw new Error('PROGRAM does not name the program: run `npm test`');

export async function startService() {
  const dir = mkdtempSync(join(tmpdir(), 'rc'));
  const socket = join(dir, 's');
  const redis = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', dir], { stdio: 'ignore' });
  const processes = [];

  /** serve starts a process, on a port that may be chosen, with flags besides the usual ones. */
  async function serve({ port = 0, flags = ['--rate-limits', 'off'] } = {}) {
    const child = spawn(
      binary,
      ['serve', '--listen', `127.0.0.1:${port}`, '--redis-url', `unix://${socket}?db=0`, '--drain-time', '300ms', '--log-level', 'warn', ...flags],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    processes.push(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /ready at (\S+)/.exec(line)?.[1];
      if (url) {
        child.stdout.resume();
        return {
          url: `${url}/graphql`,
          socketURL: `${url.replace('http', 'ws')}/graphql`,
          port: Number(new URL(url).port),
          async end(signal) {
            child.kill(signal);
            await once(child, 'exit');
          },
        };
      }
    }
    throw new Error('the program ended before it was ready');
  }

  async function stop() {
    for (const child of [...processes, redis]) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    rmSync(dir, { recursive: true });
  }

  await until(async () => {
    try {
      execFileSync('redis-cli', ['-s', socket, 'ping'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
  return { serve, stop };
}

/** until waits for a condition, two minutes at most: a machine may be busy with other things. */
export async function until(condition) {
  const deadline = Date.now() + 120_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** freePort finds a port below those that systems give to connections, so that none of them takes it meanwhile. */
export async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue; // somebody listens there
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** ask runs an operation over HTTP and returns its data. */
export async function ask(server, query, { token, variables } = {}) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

export async function register(server, username) {
  const { register } = await ask(
    server,
    `mutation { register(input: { username: "${username}", password: "a long password" }) { token userErrors { message } } }`,
  );
  return register.token;
}

export async function post(server, token, text) {
  const { createPost } = await ask(
    server,
    'mutation($text: String!) { createPost(input: { text: $text }) { edge { node { text } } userErrors { message } } }',
    { token, variables: { text } },
  );
  return createPost.edge.node.text;
}

export const watchHome = `subscription($after: Cursor) { timelineEvents(after: $after) {
  __typename cursor
  ... on PostAdded { edge { node { text author { username viewerFollows } } } }
  ... on TimelineCaughtUp { replayed }
} }`;

/** Reader notes what a subscription is told, and where to resume. */
export class Reader {
  constructor() {
    this.payload = { query: watchHome, variables: {} };
    this.texts = [];
    this.caughtUp = 0;
    this.errors = [];
    this.done = new Promise((resolve) => {
      this.sink = {
        next: ({ data, errors }) => {
          if (errors) return void this.errors.push(...errors);
          const event = data.timelineEvents;
          // The clients send this again when they have reconnected.
          this.payload.variables.after = event.cursor;
          if (event.__typename === 'PostAdded') this.texts.push(event.edge.node.text);
          if (event.__typename === 'TimelineCaughtUp') this.caughtUp++;
        },
        error: (error) => {
          this.errors.push(error);
          resolve();
        },
        complete: resolve,
      };
    });
  }
}
