import { useState } from "react";
import { describeError, describeUserError, type UserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";

export interface Attempt {
  busy: boolean;
  /** Why the last action failed. */
  problem: string | undefined;
  /** Runs an action, which returns the failures that the server reported, unless one is running. */
  attempt: (action: () => Promise<readonly UserError[]>) => Promise<void>;
}

/** Runs the actions of a control one at a time, and describes a failure in the language of the page. */
export function useAttempt(): Attempt {
  const i18n = useI18n();
  const [state, setState] = useState<{ busy: boolean; problem?: string }>({ busy: false });
  const attempt = async (action: () => Promise<readonly UserError[]>) => {
    if (state.busy) return;
    setState({ busy: true });
    try {
      const [failure] = await action();
      setState({ busy: false, ...(failure && { problem: describeUserError(failure, i18n) }) });
    } catch (error) {
      setState({ busy: false, problem: describeError(error, i18n) });
    }
  };
  return { busy: state.busy, problem: state.problem, attempt };
}
