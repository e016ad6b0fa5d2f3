interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}

const script = "/offline.js";

/** Registers the service worker that shows a page while the browser is offline. */
export function registerOfflinePage(): void {
  if (!("serviceWorker" in navigator) || !import.meta.env.PROD) return;
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("offline", { createScriptURL: () => script });
  window.addEventListener("load", () => {
    navigator.serviceWorker.register(policy?.createScriptURL(script) ?? script).catch(() => {
      // Without it the browser shows its own page while it is offline.
    });
  });
}
