const remembered = 50;

/** Where somebody was in a feed: a post, and how far below the top of the screen it stood. */
export interface Place {
  postId: string;
  top: number;
}

/** The places of the entries of the browser's history, for whoever comes back. */
export class Places {
  private readonly places = new Map<string, Place>();

  get(key: string): Place | undefined {
    return this.places.get(key);
  }

  set(key: string, place: Place | undefined): void {
    this.places.delete(key);
    if (place) this.places.set(key, place);
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
}
