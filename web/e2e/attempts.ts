import { beforeEach } from "vitest";
import { namesBeginWith } from "./api.ts";

// A test that is tried again meets what it left behind on the server: its people get other names.
beforeEach(({ task }) => {
  const retries = task.result?.retryCount ?? 0;
  namesBeginWith(retries === 0 ? "" : `r${retries}_`);
});
