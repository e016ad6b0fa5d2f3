import { spawn } from "node:child_process";
import { once } from "node:events";
import { inject } from "vitest";

export interface Server {
  url: string;
  stop(): Promise<void>;
}

/** Starts the program with a database inside it that is empty, and with other flags besides. */
export async function startServer(...flags: string[]): Promise<Server> {
  const child = spawn(
    inject("binary"),
    ["serve", "--redis-url", "memory", "--listen", "127.0.0.1:0", "--rate-limits", "off", "--drain-time", "0s", ...flags],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, RETWIS_LOG_LEVEL: "error" } },
  );
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      const ready = /ready at (http:\S+)/.exec(output);
      if (ready?.[1]) resolve(ready[1]);
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}
