import { colourOf, initialOf } from "../people/avatarLook.ts";
import { collapseBlankLines } from "../posts/textPieces.ts";
import { postPath } from "../posts/postPath.ts";
import { earlyLine, earlyPart, earlyPost, earlyPosts, earlyRows, feedClass, type EarlyPart } from "./elements.ts";

/** How many posts are shown: a screen full. */
const shown = 16;

interface Post {
  id: string;
  text: string;
  author: { username: string; displayName: string };
  replyCount: number;
  repostCount: number;
  likeCount: number;
  inReplyToId: string | null;
  inReplyToUser: { username: string } | null;
  quotedPost: { postId: string; post: Pick<Post, "text" | "author"> | null } | null;
}

/** What is needed of the answer that says who the viewer is. */
export interface ViewerAnswer {
  data?: { viewer?: { user?: Viewer } | null } | null;
}

type Viewer = Post["author"];

/** What is needed of the answer for a page with a timeline. */
export interface TimelineAnswer {
  data?: {
    viewer?: { homeTimeline?: Timeline } | null;
    publicTimeline?: Timeline | null;
  } | null;
}

interface Timeline {
  marker?: string | null;
  unreadCount?: number | null;
  posts: { edges: readonly Entry[] };
}

interface Entry {
  node: Post;
  reason: { user: Post["author"] } | null;
}

/** Shows the newest posts in place of the placeholders, until the app renders the page. */
export function showPosts({ data }: TimelineAnswer, viewer: Viewer | undefined): void {
  const timeline = data?.viewer?.homeTimeline ?? data?.publicTimeline;
  const edges = timeline?.posts.edges.slice(0, shown) ?? [];
  const rows = document.querySelector(`[${earlyRows}]`);
  const template = document.querySelector<HTMLTemplateElement>(`template[${earlyPost}]`);
  if (!rows || !template || edges.length === 0) return;
  const list = document.createElement("div");
  list.setAttribute(earlyPosts, "");
  list.className = feedClass;
  list.ariaBusy = "true";
  list.append(...edges.map((entry) => copy(template, entry, viewer)));
  const line = document.querySelector<HTMLTemplateElement>(`template[${earlyLine}]`);
  const firstRead = list.children[timeline?.unreadCount ?? 0];
  if (line && timeline?.marker && timeline.unreadCount && firstRead) firstRead.before(document.importNode(line.content, true));
  rows.replaceWith(list);
}

function copy(template: HTMLTemplateElement, { node, reason }: Entry, viewer: Viewer | undefined): Node {
  const { id, text, author, replyCount, repostCount, likeCount, inReplyToId, inReplyToUser, quotedPost } = node;
  const post = document.importNode(template.content, true);
  const part = (name: EarlyPart) => post.querySelector<HTMLElement>(`[${earlyPart}=${name}]`);
  const fill = (name: EarlyPart, content: string) => part(name)?.append(content);
  fill("avatar", initialOf(author.displayName));
  part("avatar")?.style.setProperty("background-color", colourOf(author.username));
  fill("name", author.displayName);
  part("author")?.setAttribute("href", `/u/${author.username}`);
  fill("username", `@${author.username}`);
  fill("text", collapseBlankLines(text));
  part("reply")?.setAttribute("href", postPath(id));
  for (const [name, count] of [["reply", replyCount], ["reposts", repostCount], ["likes", likeCount]] as const) {
    if (count > 0) fill(name, count.toLocaleString(navigator.languages[0]));
  }
  const reposted = reason === null ? undefined : reason.user.username === viewer?.username ? "repostedByViewer" : "reposted";
  for (const name of ["reposted", "repostedByViewer"] as const) {
    if (name !== reposted) part(name)?.remove();
  }
  const reposter = reposted && part(reposted)?.querySelector("a");
  if (reposter && reason) {
    reposter.href = `/u/${reason.user.username}`;
    reposter.querySelector("bdi")?.append(reason.user.displayName);
  }
  const answers = inReplyToId === null ? undefined : inReplyToUser === null ? "deleted" : inReplyToUser.username === author.username ? "continued" : "answered";
  for (const name of ["answered", "continued", "deleted"] as const) {
    if (name !== answers) part(name)?.remove();
  }
  const link = answers && part(answers)?.querySelector("a");
  if (link && answers === "answered" && inReplyToUser) {
    link.href = `/u/${inReplyToUser.username}`;
    link.append(`@${inReplyToUser.username}`);
  } else if (link && inReplyToId !== null) {
    link.href = postPath(inReplyToId);
  }
  const quoted = quotedPost?.post;
  if (quoted) {
    fill("quotedAuthor", quoted.author.displayName);
    part("quotedAuthor")?.setAttribute("href", postPath(quotedPost.postId));
    fill("quotedUsername", `@${quoted.author.username}`);
    fill("quotedText", collapseBlankLines(quoted.text));
  }
  if (!quoted) part("quoted")?.remove();
  if (!quotedPost || quoted) part("quotedDeleted")?.remove();
  return post;
}
