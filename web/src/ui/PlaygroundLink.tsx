import { useI18n } from "../i18n/I18n.tsx";
import { useHasPlayground } from "./hints.ts";

/** A link to the API playground, if the server has one. */
export function PlaygroundLink() {
  const { t } = useI18n();
  if (!useHasPlayground()) return null;
  return (
    <a href="/playground" className="text-accent underline">
      {t.nav.playground}
    </a>
  );
}
