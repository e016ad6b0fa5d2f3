import type { Timeline } from "@retwis/client";
import { useI18n } from "../i18n/I18n.tsx";
import { UpIcon } from "../ui/icons.tsx";

/**
 * A button with the number of new posts. It takes up no room: at the head of a list it lies
 * between what is above and the first post.
 */
export function NewPostsPill({ count, more, show }: Timeline["newPosts"]) {
  const { t, format } = useI18n();
  const label = more || count === 0 ? t.post.moreNewPosts : t.post.newPosts(count, format.number(count));
  return (
    <div role="status" className="pointer-events-none sticky top-15 z-10 -mt-4 mb-4 flex h-0 justify-center sm:top-2">
      {(count > 0 || more) && (
        <button
          type="button"
          data-new-posts
          onClick={() => void show()}
          className="pointer-events-auto flex h-8 items-center gap-1 rounded-full bg-accent pr-4 pl-2.5 text-sm font-semibold text-accent-ink shadow-md shadow-black/20"
        >
          <UpIcon />
          {label}
        </button>
      )}
    </div>
  );
}
