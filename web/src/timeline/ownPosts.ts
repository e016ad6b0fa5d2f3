const remembered = 200;

/**
 * The posts made in this tab. They appear at once, wherever they are met, and while one is
 * on its way its event is kept waiting: the post is there already, under another id.
 */
export class OwnPosts {
  private readonly made = new Set<string>();
  private sending = 0;
  private latestAuthor: string | undefined;
  private readonly waiting = new Set<() => void>();

  /** Whether the post was made in this tab. */
  has(postId: string): boolean {
    return this.made.has(postId);
  }

  /** Whether a post is on its way. */
  get busy(): boolean {
    return this.sending > 0;
  }

  /** The id of the user who posts here, as of the last post. */
  get author(): string | undefined {
    return this.latestAuthor;
  }

  /** Remembers a post that was made. */
  add(postId: string): void {
    this.made.add(postId);
    if (this.made.size > remembered) {
      for (const oldest of this.made) {
        this.made.delete(oldest);
        break;
      }
    }
  }

  /** Runs what sends a post of somebody. */
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

  /** Calls back each time no post is on its way any more. */
  onSettled(resume: () => void): () => void {
    this.waiting.add(resume);
    return () => this.waiting.delete(resume);
  }
}
