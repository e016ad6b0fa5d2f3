import { useServices } from "../app/services.ts";
import { navigate } from "../router/visit.ts";

/** Returns a function to call after the session ended: it forgets the session and shows the welcome page. */
export function useLeave(): () => Promise<void> {
  const { session } = useServices();
  return async () => {
    navigate("/", { replace: true });
    await session.changed();
  };
}
