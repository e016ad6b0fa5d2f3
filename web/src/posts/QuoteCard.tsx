import { useQuotedPost, type QuotedContentFragment } from "@retwis/client";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { useAge } from "../ui/clock.ts";
import { postPath } from "./postPath.ts";
import { QuoteLayout, quoteLinkClass } from "./QuoteLayout.tsx";
import { collapseBlankLines } from "./textPieces.ts";

/** The post that a post quotes, within that post. */
export function Quote({ postId, quotedPostId }: { postId: string; quotedPostId: string }) {
  const { t } = useI18n();
  const quoted = useQuotedPost(postId);
  // While the quoted post is being read, and if that fails, there is a link to it.
  if (!quoted) {
    return (
      <QuoteLayout>
        <Link to={postPath(quotedPostId)} className={quoteLinkClass}>
          {t.quotes.open}
        </Link>
      </QuoteLayout>
    );
  }
  return quoted.post ? <QuoteCard {...quoted.post} /> : <DeletedQuote />;
}

/** A quoted post: its author, and its text without links of its own. The whole card opens the post. */
export function QuoteCard({ id, author, text, createdAt }: QuotedContentFragment) {
  const { t } = useI18n();
  const age = useAge(createdAt);
  return (
    <QuoteLayout
      author={
        <Link to={postPath(id)} aria-label={t.quotes.quoted(author.displayName)} className={quoteLinkClass}>
          <bdi>{author.displayName}</bdi>
        </Link>
      }
      username={`@${author.username}`}
      age={<time dateTime={createdAt}>{age}</time>}
      text={collapseBlankLines(text)}
    />
  );
}

/** Stands in place of a quoted post that was deleted. */
export function DeletedQuote() {
  const { t } = useI18n();
  return (
    <QuoteLayout>
      <span data-deleted>{t.quotes.deleted}</span>
    </QuoteLayout>
  );
}
