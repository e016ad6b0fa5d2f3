const remembered = 200;

/**
 * The posts created in this tab. They are shown at once in every timeline. While one is
 * being sent, its event waits: the timeline already shows the post, under a temporary id.
 */
export class OwnPosts {
  private readonly made = new Set<string>();
  private sending = 0;
  private latestAuthor: string | undefined;
  private readonly waiting = new Set<() => void>();

  /** Reports whether the post was created in this tab. */
  has(postId: string): boolean {
    return this.made.has(postId);
  }

  /** Reports whether a post is being sent. */
  get busy(): boolean {
    return this.sending > 0;
  }

  /** The id of the author of the last post. */
  get author(): string | undefined {
    return this.latestAuthor;
  }

  /** Remembers a post that was created. */
  add(postId: string): void {
    this.made.add(postId);
    if (this.made.size > remembered) {
      for (const oldest of this.made) {
        this.made.delete(oldest);
        break;
      }
    }
  }

  /** Runs a task that sends a post of an author. */
  async send<T>(author: string, task: () => Promise<T>): Promise<T> {
    this.latestAuthor = author;
    this.sending++;
    try {
      return await task();
    } finally {
      this.sending--;
      if (!this.busy) for (const resume of this.waiting) resume();
    }
  }

  /** Calls back each time the last post that was being sent has an answer. Returns how to stop that. */
  onSettled(resume: () => void): () => void {
    this.waiting.add(resume);
    return () => this.waiting.delete(resume);
  }
}
