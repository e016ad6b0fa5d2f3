const remembered = 50;
const name = "retwis-places";

/** Where somebody was in a feed: a post, and how far below the top of the screen it stood. */
export interface Place {
  postId: string;
  top: number;
  /** Where the post is in the timeline, for who has scrolled there. */
  cursor?: string | undefined;
}

/**
 * The places of the entries of the browser's history, for whoever comes back. Those that
 * were scrolled to outlive the page: a reload returns to them, and at the head shows the news.
 */
export class Places {
  private readonly places: Map<string, Place>;
  private readonly storage: () => Pick<Storage, "getItem" | "setItem">;

  /** `storage` may throw, as the browser's does where it is forbidden. */
  constructor(storage: () => Pick<Storage, "getItem" | "setItem">) {
    this.storage = storage;
    this.places = new Map(comesBack() ? this.stored() : []);
  }

  get(key: string): Place | undefined {
    return this.places.get(key);
  }

  set(key: string, place: Place): void {
    this.places.delete(key);
    this.places.set(key, place);
    if (this.places.size > remembered) {
      for (const oldest of this.places.keys()) {
        this.places.delete(oldest);
        break;
      }
    }
  }

  clear(): void {
    this.places.clear();
  }

  /** Keeps the places for the page that comes after this one. */
  readonly keep = (): void => {
    try {
      this.storage().setItem(name, JSON.stringify([...this.places].filter(([, { cursor }]) => cursor !== undefined)));
    } catch {
      // Full, or forbidden: who comes back begins at the head.
    }
  };

  private stored(): [string, Place][] {
    try {
      return JSON.parse(this.storage().getItem(name) ?? "[]") as [string, Place][];
    } catch {
      return [];
    }
  }
}

/** Whether the page was reloaded, or returned to from another one. */
function comesBack(): boolean {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return navigation?.type === "reload" || navigation?.type === "back_forward";
}
