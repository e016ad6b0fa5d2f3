// Shows a static page while the browser is offline. It caches that page and nothing else.
const cacheName = "offline";
const page = "/offline";

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(cacheName).then((cache) => cache.add(new Request(page, { cache: "reload" }))));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(self.registration.navigationPreload?.enable());
});

self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(load(event));
});

async function load(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    const cached = await caches.match(page);
    if (cached) return cached;
    throw error;
  }
}
