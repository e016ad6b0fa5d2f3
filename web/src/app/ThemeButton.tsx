import { useSyncExternalStore } from "react";
import { MoonIcon, SunIcon, SystemIcon } from "../ui/icons.tsx";
import { following, ThemeChoice, type Theme } from "../ui/theme.ts";

const choice = new ThemeChoice();
const names: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" };

/** Switches between the colours of the system, light ones and dark ones. */
export function ThemeButton() {
  const theme = useSyncExternalStore(choice.subscribe, choice.get);
  const label = `Colours: ${names[theme]}`;
  return (
    <button
      type="button"
      aria-label={label}
      title={`${label}. Press for ${names[following(theme)]}.`}
      onClick={choice.next}
      className="flex size-10 shrink-0 items-center justify-center rounded-full text-soft hover:bg-wash hover:text-ink"
    >
      {theme === "light" ? <SunIcon /> : theme === "dark" ? <MoonIcon /> : <SystemIcon />}
    </button>
  );
}
