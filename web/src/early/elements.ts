/** The attribute of the placeholders that the early posts replace. */
export const earlyRows = "data-early-rows";
/** The attribute of the template of an early post. */
export const earlyPost = "data-early-post";
/** The attribute of the template of the line below the posts that are new since the last visit. */
export const earlyLine = "data-early-line";
/** The attribute of the list of early posts. */
export const earlyPosts = "data-early-posts";
/** The class of a list of posts: room for the button that shows new ones. */
export const feedClass = "pt-4";
/** The attribute of the elements within an early post. */
export const earlyPart = "data-early-part";
/**
 * What these elements are. A post keeps one of the reasons if it is there by a repost, one of the contexts if it is a reply,
 * one of the quotes if it is a quote, and none otherwise.
 */
export type EarlyPart =
  | ("author" | "avatar" | "name" | "text" | "username" | "reply" | "reposts" | "likes")
  | EarlyReason
  | ("quotedAuthor" | "quotedUsername" | "quotedText")
  | EarlyContext
  | EarlyQuote;
export type EarlyReason = "reposted" | "repostedByViewer";
export type EarlyContext = "answered" | "continued" | "deleted";
export type EarlyQuote = "quoted" | "quotedDeleted";
