/**
 * What somebody is writing. The key goes with the text: sending the same text again after
 * an answer was lost makes no second post.
 */
export interface Draft {
  text: string;
  key: string;
}

/** The drafts of the people who use this browser, kept over reloads. */
export class Drafts {
  private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;

  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.storage = storage;
  }

  read(userId: string): Draft {
    try {
      const stored: unknown = JSON.parse(this.storage.getItem(name(userId)) ?? "null");
      if (isDraft(stored)) return stored;
    } catch {
      // Somebody else's, or no storage at all: begin with nothing.
    }
    return emptyDraft();
  }

  write(userId: string, draft: Draft): void {
    try {
      if (draft.text === "") this.storage.removeItem(name(userId));
      else this.storage.setItem(name(userId), JSON.stringify(draft));
    } catch {
      // Full, or forbidden: the draft lives as long as the page.
    }
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
