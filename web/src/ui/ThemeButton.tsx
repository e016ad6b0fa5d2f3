import { useSyncExternalStore } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { MoonIcon, SunIcon, SystemIcon } from "./icons.tsx";
import { nextTheme, ThemeChoice, type Theme } from "./theme.ts";

const choice = new ThemeChoice();

/** Switches between the theme of the system, the light one and the dark one. */
export function ThemeButton() {
  const { t } = useI18n();
  const theme = useSyncExternalStore(choice.subscribe, choice.get, (): Theme => "system");
  const label = t.theme.label(t.theme[theme]);
  return (
    <button
      type="button"
      aria-label={label}
      title={t.theme.next(label, t.theme[nextTheme(theme)])}
      onClick={choice.next}
      className="flex size-10 shrink-0 items-center justify-center rounded-full text-soft hover:bg-wash hover:text-ink"
    >
      {theme === "light" ? <SunIcon /> : theme === "dark" ? <MoonIcon /> : <SystemIcon />}
    </button>
  );
}
