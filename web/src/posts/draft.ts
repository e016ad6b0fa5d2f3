import { newIdempotencyKey } from "@retwis/client";

/**
 * The text of a post that is being written. The key belongs to the text: sending the same
 * text again after its answer was lost creates no second post.
 */
export interface Draft {
  readonly text: string;
  readonly key: string;
}

/**
 * The drafts of the users of this browser. They survive reloads. A post that is being sent is
 * stored like a draft until the server has it, unless another draft is begun meanwhile.
 */
export class Drafts {
  private readonly storage: () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
  private readonly drafts = new Map<string, Draft>();
  private readonly listeners = new Set<() => void>();

  /** `storage` may throw, as the browser's does where it is forbidden. */
  constructor(storage: () => Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.storage = storage;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read(userId: string): Draft {
    const draft = this.drafts.get(userId) ?? this.stored(userId);
    this.drafts.set(userId, draft);
    return draft;
  }

  write(userId: string, draft: Draft): void {
    this.keep(userId, draft);
    this.show(userId, draft);
  }

  /** The draft is being sent. */
  send(userId: string, draft: Draft): void {
    this.keep(userId, draft);
    this.show(userId, emptyDraft());
  }

  /** The server has the post. */
  sent(userId: string, draft: Draft): void {
    if (this.stored(userId).key === draft.key) this.keep(userId, this.read(userId));
  }

  /** The post could not be sent: its text is put before that of a draft begun meanwhile. */
  returned(userId: string, draft: Draft): void {
    const { text } = this.read(userId);
    this.write(userId, text === "" ? draft : emptyDraft(`${draft.text}\n\n${text}`));
  }

  private show(userId: string, draft: Draft): void {
    this.drafts.set(userId, draft);
    for (const listener of this.listeners) listener();
  }

  private keep(userId: string, draft: Draft): void {
    try {
      if (draft.text === "") this.storage().removeItem(name(userId));
      else this.storage().setItem(name(userId), JSON.stringify(draft));
    } catch {
      // Storage is full or forbidden: the draft lives as long as the page.
    }
  }

  private stored(userId: string): Draft {
    try {
      const stored: unknown = JSON.parse(this.storage().getItem(name(userId)) ?? "null");
      if (isDraft(stored)) return stored;
    } catch {
      // Unreadable, or no storage: begin with an empty draft.
    }
    return emptyDraft();
  }
}

export function emptyDraft(text = ""): Draft {
  return { text, key: newIdempotencyKey() };
}

function name(userId: string): string {
  return `retwis-draft:${userId}`;
}

function isDraft(value: unknown): value is Draft {
  const draft = value as Partial<Draft> | null;
  return typeof draft?.text === "string" && typeof draft.key === "string";
}
