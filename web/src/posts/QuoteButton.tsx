import { useI18n } from "../i18n/I18n.tsx";
import { navigate } from "../router/visit.ts";
import { useViewer } from "../session/useSession.ts";
import { QuoteIcon } from "../ui/icons.tsx";
import { quote } from "./drafts.ts";
import { actionClass } from "./PostLayout.tsx";

/** Opens the composer to quote a post. Visitors have no composer. */
export function QuoteButton({ postId }: { postId: string }) {
  const { t } = useI18n();
  const viewer = useViewer();
  if (!viewer) return null;
  return (
    <button
      type="button"
      aria-label={t.quotes.quote}
      aria-describedby={`${postId}-text`}
      onClick={() => composeQuote(viewer.user.id, postId)}
      className={actionClass}
    >
      <QuoteIcon />
    </button>
  );
}

/** Opens the composer of a user with a post to quote. */
export function composeQuote(userId: string, postId: string): void {
  quote(userId, postId);
  navigate("/", { state: { compose: true } });
}
