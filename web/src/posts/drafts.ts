import { draftKey, Drafts, emptyDraft } from "./draft.ts";

/** The drafts of this browser. */
export const drafts = new Drafts(() => localStorage);

/** Has a user's draft of a new post quote a post, or none. The text stays. */
export function quote(userId: string, quotedPostId: string | undefined): void {
  const key = draftKey(userId);
  drafts.write(key, emptyDraft(drafts.read(key).text, quotedPostId));
}
