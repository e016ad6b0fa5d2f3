import { isPending } from "@retwis/client";
import { navigate } from "../router/visit.ts";
import { quote } from "./drafts.ts";
import { focusedPost } from "./focus.ts";
import { postPath } from "./postPath.ts";

/** Opens the thread of the post that has the focus, to write a reply. Reports whether a post has it. */
export function answerFocusedPost(): boolean {
  const id = focusedPost();
  if (id === undefined || isPending(id)) return false;
  navigate(postPath(id), { state: { compose: true } });
  return true;
}

/** Opens the composer of a user to quote the post that has the focus. */
export function quoteFocusedPost(userId: string | undefined): void {
  const id = focusedPost();
  if (id !== undefined && userId !== undefined && !isPending(id)) composeQuote(userId, id);
}

/** Opens the composer of a user with a post to quote. */
export function composeQuote(userId: string, postId: string): void {
  quote(userId, postId);
  navigate("/", { state: { compose: true } });
}
