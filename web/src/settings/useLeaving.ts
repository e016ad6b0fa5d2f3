import { useState } from "react";
import { useNavigate } from "react-router";
import { describeError } from "../api/errors.ts";
import { useServices } from "../app/services.ts";

/** Does what ends the session here, and shows the app as to who is not logged in. */
export function useLeaving() {
  const { session } = useServices();
  const navigate = useNavigate();
  const [problem, setProblem] = useState<string>();
  /** `how` says what is wrong, when something is. */
  const leave = async (how: () => Promise<string | undefined>) => {
    setProblem(undefined);
    try {
      const wrong = await how();
      if (wrong !== undefined) return setProblem(wrong);
      void navigate("/", { replace: true });
      await session.changed();
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return { problem, leave };
}
