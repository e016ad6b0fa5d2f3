import { useFragment } from "@apollo/client/react";
import { TimelinePostFragmentDoc, useThread, type Thread } from "@retwis/client";
import { useEffect, useLayoutEffect, useRef, type RefObject } from "react";
import { useShortcuts } from "../app/shortcuts.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { answerFocusedPost, quoteFocusedPost } from "../posts/answer.ts";
import { focusedPost, focusNeighbour } from "../posts/focus.ts";
import { PostCard } from "../posts/PostCard.tsx";
import { postPath } from "../posts/postPath.ts";
import { useParams } from "../router/useParams.ts";
import { navigate, useChoice, useVisit } from "../router/visit.ts";
import { useViewer } from "../session/useSession.ts";
import { DeletedPost } from "../thread/DeletedPost.tsx";
import { Replies } from "../thread/Replies.tsx";
import { ReplyComposer } from "../thread/ReplyComposer.tsx";
import { PageTitle, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

const newest = "newest";

/** A post, the posts above it in its thread, and the replies to it. */
export function PostPage() {
  const { id = "" } = useParams();
  return <ThreadPage key={id} postId={id} />;
}

function ThreadPage({ postId }: { postId: string }) {
  const { t } = useI18n();
  const { returning } = useVisit();
  const [order, setOrder] = useChoice("order");
  const thread = useThread(postId, { newestFirst: order === newest, returning });
  const { status, ancestors, post } = thread;
  const viewer = useViewer();
  const above = useRef<HTMLElement>(null);
  useSteadyPost(above, ancestors.length > 0, returning);
  const { data, complete } = useFragment({ fragment: TimelinePostFragmentDoc, fragmentName: "TimelinePost", from: post });
  useShortcuts({ j: () => moveFocus(1), k: () => moveFocus(-1), r: () => answer(postId), q: () => quoteFocusedPost(viewer?.user.id) });
  if (status === "missing") return <NotFoundPage text={t.post.missing} />;
  const author = post && complete ? data.author : undefined;
  const leave = () => {
    if (thread.replyCount > 0) focusNeighbour([postId], postId);
    else navigate(data?.inReplyToId ? postPath(data.inReplyToId) : "/", { replace: true });
  };
  return (
    <>
      <PageTitle title={author ? `${author.displayName} (@${author.username})` : t.post.title}>{t.post.title}</PageTitle>
      <div className="border-b border-line" />
      {ancestors.length > 0 && (
        <section ref={above} aria-label={t.thread.above}>
          <Ancestors {...thread} />
        </section>
      )}
      {/* The page is long enough to begin with the post. */}
      <div className={ancestors.length > 0 ? "min-h-[calc(100dvh-4rem)]" : undefined}>
        {post ? <PostCard post={post} large onRemoved={leave} /> : status === "ready" && <DeletedPost />}
        {(post || status === "ready") && <ReplyComposer postId={postId} author={author} deleted={!post} />}
        {post || status !== "loading" ? (
          <Replies thread={thread} newestFirst={order === newest} onOrder={(first) => setOrder(first ? newest : undefined)} />
        ) : (
          <Skeleton rows={3} />
        )}
      </div>
    </>
  );
}

/** The posts above, with placeholders for deleted ones. */
function Ancestors({ ancestors, gap }: Pick<Thread, "ancestors" | "gap">) {
  const { t } = useI18n();
  return ancestors.map(({ postId, post }, i) => (
    <div key={postId}>
      {gap && i === 1 && <p className="border-b border-line px-4 py-3 text-sm text-soft sm:px-6">{t.thread.gap}</p>}
      {post ? <PostCard post={post} inThread onRemoved={() => focusNeighbour(ancestors.map((ancestor) => ancestor.postId), postId)} /> : <DeletedPost />}
    </div>
  ));
}

/** Keeps the post where a page without posts above it has it. A return restores the height of the page instead. */
function useSteadyPost(above: RefObject<HTMLElement | null>, hasAbove: boolean, returning: boolean): void {
  const known = useRef(hasAbove);
  const steady = () => window.scrollBy(0, above.current?.offsetHeight ?? 0);
  const arrived = hasAbove && !known.current;
  useLayoutEffect(() => {
    if (arrived) steady();
    known.current ||= arrived;
  });
  // A new page scrolls to its top when it is mounted.
  useEffect(() => {
    if (known.current && !returning) steady();
    // eslint-disable-next-line -- only when the page is mounted
  }, []);
}

/** Moves the focus to the next or the previous post of the page. */
function moveFocus(step: 1 | -1): void {
  const posts = [...document.querySelectorAll<HTMLElement>("main article[tabindex]")];
  const index = posts.findIndex((post) => post.dataset["postId"] === focusedPost());
  const next = posts[index < 0 ? 0 : index + step];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

/** Replies to the post that has the focus, or else to that of the page. */
function answer(postId: string): void {
  const focused = focusedPost();
  if (focused === undefined || focused === postId || !answerFocusedPost()) document.getElementById("reply-composer")?.focus();
}
