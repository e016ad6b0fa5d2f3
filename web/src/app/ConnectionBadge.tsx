import { useSyncExternalStore } from "react";
import type { ConnectionState } from "../live/connection.ts";
import { useServices } from "./services.ts";

const labels: Record<ConnectionState, string> = {
  idle: "",
  connecting: "Connecting",
  live: "Live",
  lost: "Reconnecting",
};

/** Says whether what is on the screen is live. */
export function ConnectionBadge() {
  const { connection } = useServices();
  const state = useSyncExternalStore(connection.subscribe, connection.getState);
  return (
    <p role="status" data-connection={state} className="flex h-6 items-center justify-end gap-2 text-sm text-soft max-sm:mr-1 sm:w-full sm:justify-start">
      {state !== "idle" && (
        <span
          aria-hidden="true"
          className={`size-2 rounded-full ${state === "live" ? "bg-accent" : "bg-warn motion-safe:animate-pulse"}`}
        />
      )}
      <span className="max-[22rem]:sr-only">{labels[state]}</span>
    </p>
  );
}
