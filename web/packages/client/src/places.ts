const remembered = 50;
const name = "retwis-places";

/** A reader's place in a timeline: an entry and its distance from the top of the screen, in pixels. */
export interface Place {
  entryId: string;
  top: number;
  /** The entry's cursor in the timeline; absent at the head. */
  cursor?: string | undefined;
}

/**
 * The reader's places, one for each entry of the browser's history. Places below the head
 * survive a reload; at the head a reload shows the newest posts.
 */
export class Places {
  private readonly places: Map<string, Place>;
  private readonly focused = new Map<string, string>();
  private readonly storage: () => Pick<Storage, "getItem" | "setItem">;

  /** `storage` may throw, as the browser's does where it is forbidden. */
  constructor(storage: () => Pick<Storage, "getItem" | "setItem">) {
    this.storage = storage;
    this.places = new Map(isReturn() ? this.stored() : []);
  }

  get(key: string): Place | undefined {
    return this.places.get(key);
  }

  set(key: string, place: Place): void {
    put(this.places, key, place);
  }

  /** Returns the id of the entry that had the focus. */
  focusedEntry(key: string): string | undefined {
    return this.focused.get(key);
  }

  /** Notes which entry has the focus; undefined if none has. */
  focus(key: string, entryId: string | undefined): void {
    if (entryId === undefined) this.focused.delete(key);
    else put(this.focused, key, entryId);
  }

  /** Forgets all places, also the stored ones. */
  clear(): void {
    this.places.clear();
    this.focused.clear();
    this.keep();
  }

  /** Stores the places for the next page load. */
  readonly keep = (): void => {
    try {
      this.storage().setItem(name, JSON.stringify([...this.places].filter(([, { cursor }]) => cursor !== undefined)));
    } catch {
      // Storage is full or forbidden: the next page load begins at the head.
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

/** Sets an entry, as the newest one, and removes the oldest one if there are too many. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > remembered) map.delete(map.keys().next().value ?? "");
}

/** Reports whether the page was reloaded, or reached by Back or Forward. */
export function isReturn(): boolean {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return navigation?.type === "reload" || navigation?.type === "back_forward";
}
