import type { ConnectionState } from "@retwis/client";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { useServices } from "./services.ts";

/** How long a connection is lost before the banner appears, in milliseconds. */
const patience = 1_500;

function useConnectionState(): ConnectionState {
  const { connection } = useServices();
  return useSyncExternalStore(connection.subscribe, connection.getState);
}

/** Says whether the page is live. */
export function ConnectionBadge() {
  const { t } = useI18n();
  const state = useConnectionState();
  return (
    <p role="status" data-connection={state} className="flex h-6 items-center justify-end gap-2 text-sm text-soft max-sm:mr-1 sm:w-full sm:justify-start">
      {state !== "idle" && (
        <span
          aria-hidden="true"
          className={`size-2 rounded-full ${state === "live" ? "bg-accent" : "bg-warn motion-safe:animate-pulse"}`}
        />
      )}
      <span className="max-[22rem]:sr-only">{state === "idle" ? "" : t.connection[state]}</span>
    </p>
  );
}

/** Says at the foot of the page that the connection is lost, once that has lasted a moment. */
export function ConnectionBanner() {
  const { t } = useI18n();
  const lost = useConnectionState() === "lost";
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!lost) return setLate(false);
    const timer = setTimeout(() => setLate(true), patience);
    return () => clearTimeout(timer);
  }, [lost]);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 bottom-20 z-20 flex justify-center px-4 sm:bottom-6">
      {late && (
        <p data-offline-banner className="rounded-xl bg-ink px-4 py-2.5 text-center text-sm font-medium text-paper shadow-lg shadow-black/20">
          {t.connection.banner}
        </p>
      )}
    </div>
  );
}
