/** The way to the playground of the API, where the service has one, as the page itself says. */
export function PlaygroundLink() {
  if (!document.querySelector("meta[name=playground]")) return null;
  return (
    <a href="/playground" className="text-accent underline">
      API playground
    </a>
  );
}
