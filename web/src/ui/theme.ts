const name = "retwis-theme"; // the pages read it before the first paint
const choices = ["system", "light", "dark"] as const;

export type Theme = (typeof choices)[number];

/** The theme that the user chose: that of the system, or always the same one. */
export class ThemeChoice {
  private readonly listeners = new Set<() => void>();

  constructor() {
    if (typeof window === "undefined") return; // rendered while building
    // Other tabs follow.
    window.addEventListener("storage", (event) => {
      if (event.key !== name && event.key !== null) return;
      this.apply(stored());
    });
  }

  readonly get = (): Theme => {
    const chosen = document.documentElement.dataset["theme"];
    return chosen === "light" || chosen === "dark" ? chosen : "system";
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Switches to the next theme. */
  readonly next = (): void => {
    const theme = nextTheme(this.get());
    try {
      if (theme === "system") localStorage.removeItem(name);
      else localStorage.setItem(name, theme);
    } catch {
      // without storage the choice lasts as long as the page
    }
    this.apply(theme);
  };

  private apply(theme: Theme): void {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    for (const listener of this.listeners) listener();
  }
}

/** Returns the theme after another. */
export function nextTheme(theme: Theme): Theme {
  return choices[(choices.indexOf(theme) + 1) % choices.length] ?? "system";
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(name);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}
