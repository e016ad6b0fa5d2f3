import type { Thread } from "@retwis/client";
import { describeError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { focusNeighbour } from "../posts/focus.ts";
import { PostCard } from "../posts/PostCard.tsx";
import { Button } from "../ui/Button.tsx";
import { choiceClass } from "../ui/Choices.tsx";
import { Empty, Problem, Skeleton } from "../ui/states.tsx";

export interface RepliesProps {
  thread: Thread;
  newestFirst: boolean;
  onOrder: (newestFirst: boolean) => void;
}

/** The replies to a post, in pages. */
export function Replies({ thread, newestFirst, onOrder }: RepliesProps) {
  const { t } = useI18n();
  const { status, replies, moreReplies } = thread;
  return (
    <section aria-label={t.thread.replies}>
      {(replies.length > 1 || moreReplies.more || newestFirst) && (
        <div role="group" aria-label={t.thread.order} className="flex flex-wrap gap-2 border-b border-line px-4 py-3 sm:px-6">
          <Order chosen={!newestFirst} onChoose={() => onOrder(false)}>
            {t.thread.oldestFirst}
          </Order>
          <Order chosen={newestFirst} onChoose={() => onOrder(true)}>
            {t.thread.newestFirst}
          </Order>
        </div>
      )}
      {replies.map(({ node }) => (
        <PostCard key={node.id} post={node} inThread onRemoved={() => focusNeighbour(replies.map((edge) => edge.node.id), node.id)} />
      ))}
      {status === "failed" && <Problem error={thread.error} retry={thread.retry} />}
      {status === "loading" && <Skeleton rows={2} />}
      {status === "ready" && replies.length === 0 && <Empty>{t.thread.noReplies}</Empty>}
      {moreReplies.more && <MoreReplies {...moreReplies} />}
    </section>
  );
}

function Order({ chosen, onChoose, children }: { chosen: boolean; onChoose: () => void; children: string }) {
  return (
    <button type="button" aria-pressed={chosen} onClick={onChoose} className={choiceClass}>
      {children}
    </button>
  );
}

function MoreReplies({ loading, error, load }: Thread["moreReplies"]) {
  const i18n = useI18n();
  const { t } = i18n;
  return (
    <div className="flex flex-wrap items-center justify-center gap-4 px-6 py-6 text-sm">
      {error !== undefined && <p role="alert">{describeError(error, i18n)}</p>}
      <Button kind="quiet" busy={loading} onClick={() => void load()}>
        {error === undefined ? t.thread.moreReplies : t.tryAgain}
      </Button>
    </div>
  );
}
