const remembered = 200;

/** What identifies an entry of a timeline. */
export interface Entry {
  entryId: string;
  node: { id: string };
  /** The repost for which the timeline shows the post. */
  reason: { user: { id: string } } | null;
}

/**
 * The posts and reposts created in this tab. They are shown at once in every timeline. While a post is
 * being sent, its event waits: the timeline already shows the post, under a temporary id.
 */
export class OwnPosts {
  private readonly made = new Set<string>();
  private sending = 0;
  private latestAuthor: string | undefined;
  private readonly waiting = new Set<() => void>();

  /** Reports whether the post or repost was created in this tab. */
  has({ entryId, node, reason }: Entry): boolean {
    return this.made.has(reason ? repostBy(reason.user.id, node.id) : entryId);
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

  /** Remembers that a user reposts a post, or undoes that. */
  noteRepost(postId: string, userId: string, reposted: boolean): void {
    if (reposted) this.add(repostBy(userId, postId));
    else this.made.delete(repostBy(userId, postId));
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

function repostBy(userId: string, postId: string): string {
  return `${userId} ${postId}`;
}
