import { useRef, useState } from "react";
import { describeError, describeUserError, type UserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";

export interface Attempt {
  busy: boolean;
  /** Why the last action failed. */
  problem: string | undefined;
  /** Runs an action after those before it have ended. It returns the failures that the server reported. */
  attempt: (action: () => Promise<readonly UserError[]>) => Promise<void>;
}

/** Runs the actions of a control one after the other, and describes a failure in the language of the page. */
export function useAttempt(): Attempt {
  const i18n = useI18n();
  const [unfinished, setUnfinished] = useState(0);
  const [problem, setProblem] = useState<string>();
  const last = useRef(Promise.resolve());
  const run = async (action: () => Promise<readonly UserError[]>) => {
    setProblem(undefined);
    try {
      const [failure] = await action();
      if (failure) setProblem(describeUserError(failure, i18n));
    } catch (error) {
      setProblem(describeError(error, i18n));
    }
    setUnfinished((count) => count - 1);
  };
  const attempt = (action: () => Promise<readonly UserError[]>) => {
    setUnfinished((count) => count + 1);
    last.current = last.current.then(() => run(action));
    return last.current;
  };
  return { busy: unfinished > 0, problem, attempt };
}
