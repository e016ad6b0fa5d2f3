/**
 * What somebody is writing. The key goes with the text: sending the same text again after
 * an answer was lost makes no second post.
 */
export interface Draft {
  readonly text: string;
  readonly key: string;
}

/**
 * The drafts of the people who use this browser, kept over reloads. What is on its way is
 * no draft any more, yet it is kept like one until it has arrived, unless something else is
 * begun meanwhile.
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

  /** The draft is on its way. */
  send(userId: string, draft: Draft): void {
    this.keep(userId, draft);
    this.show(userId, emptyDraft());
  }

  /** What was on its way has arrived. */
  arrived(userId: string, draft: Draft): void {
    if (this.stored(userId).key === draft.key) this.keep(userId, this.read(userId));
  }

  /** What was on its way is back, in front of what has been begun meanwhile. */
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
      // Full, or forbidden: the draft lives as long as the page.
    }
  }

  private stored(userId: string): Draft {
    try {
      const stored: unknown = JSON.parse(this.storage().getItem(name(userId)) ?? "null");
      if (isDraft(stored)) return stored;
    } catch {
      // Somebody else's, or no storage at all: begin with nothing.
    }
    return emptyDraft();
  }
}

export function emptyDraft(text = ""): Draft {
  return { text, key: newKey() };
}

function name(userId: string): string {
  return `retwis-draft:${userId}`;
}

function isDraft(value: unknown): value is Draft {
  const draft = value as Partial<Draft> | null;
  return typeof draft?.text === "string" && typeof draft.key === "string";
}

/** Not randomUUID: browsers have that on secure origins only. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
