import { newIdempotencyKey } from "@retwis/client";

/**
 * A post that is being written. The key belongs to the text and the quoted post: sending the same
 * post again after its answer was lost creates no second one.
 */
export interface Draft {
  readonly text: string;
  /** The id of the post that is quoted. */
  readonly quotedPostId?: string | undefined;
  readonly key: string;
}

/** Returns the key of a user's draft: of a new post, or of a reply to a post. */
export function draftKey(userId: string, inReplyToId?: string): string {
  return inReplyToId === undefined ? userId : `${userId}:${inReplyToId}`;
}

/**
 * The drafts of the users of this browser, by their keys. They survive reloads. A post that is being sent is
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

  read(key: string): Draft {
    const draft = this.drafts.get(key) ?? this.stored(key);
    this.drafts.set(key, draft);
    return draft;
  }

  write(key: string, draft: Draft): void {
    this.keep(key, draft);
    this.show(key, draft);
  }

  /** The draft is being sent. */
  send(key: string, draft: Draft): void {
    this.keep(key, draft);
    this.show(key, emptyDraft());
  }

  /** The server has the post. */
  sent(key: string, draft: Draft): void {
    if (this.stored(key).key === draft.key) this.keep(key, this.read(key));
  }

  /** The post could not be sent: its text is put before that of a draft begun meanwhile, which keeps the post that it quotes. */
  returned(key: string, draft: Draft): void {
    const { text, quotedPostId } = this.read(key);
    const untouched = text === "" && quotedPostId === undefined;
    this.write(key, untouched ? draft : emptyDraft([draft.text, text].filter(Boolean).join("\n\n"), quotedPostId ?? draft.quotedPostId));
  }

  private show(key: string, draft: Draft): void {
    this.drafts.set(key, draft);
    for (const listener of this.listeners) listener();
  }

  private keep(key: string, draft: Draft): void {
    try {
      if (draft.text === "" && draft.quotedPostId === undefined) this.storage().removeItem(name(key));
      else this.storage().setItem(name(key), JSON.stringify(draft));
    } catch {
      // Storage is full or forbidden: the draft lives as long as the page.
    }
  }

  private stored(key: string): Draft {
    try {
      const stored: unknown = JSON.parse(this.storage().getItem(name(key)) ?? "null");
      if (isDraft(stored)) return stored;
    } catch {
      // Unreadable, or no storage: begin with an empty draft.
    }
    return emptyDraft();
  }
}

export function emptyDraft(text = "", quotedPostId?: string): Draft {
  return { text, key: newIdempotencyKey(), ...(quotedPostId !== undefined && { quotedPostId }) };
}

function name(key: string): string {
  return `retwis-draft:${key}`;
}

function isDraft(value: unknown): value is Draft {
  const draft = value as Partial<Draft> | null;
  return typeof draft?.text === "string" && typeof draft.key === "string" && ["string", "undefined"].includes(typeof draft.quotedPostId);
}
