const name = "retwis-theme"; // index.html reads it before anything is painted
const choices = ["system", "light", "dark"] as const;

export type Theme = (typeof choices)[number];

/** Which colours somebody wants: those of the system, or always the same ones. */
export class ThemeChoice {
  private readonly listeners = new Set<() => void>();

  constructor() {
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

  /** Goes on to the next choice. */
  readonly next = (): void => {
    const theme = following(this.get());
    try {
      if (theme === "system") localStorage.removeItem(name);
      else localStorage.setItem(name, theme);
    } catch {
      // no storage: it lasts as long as the page
    }
    this.apply(theme);
  };

  private apply(theme: Theme): void {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    for (const listener of this.listeners) listener();
  }
}

/** The choice that comes after another. */
export function following(theme: Theme): Theme {
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
