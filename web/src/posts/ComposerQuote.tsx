import { useFragment, useQuery } from "@apollo/client/react";
import { QuotedContentFragmentDoc } from "@retwis/client";
import { useI18n } from "../i18n/I18n.tsx";
import { CloseIcon } from "../ui/icons.tsx";
import { QuotedDraftDocument } from "./ComposerQuote.documents.ts";
import { DeletedQuote, QuoteCard } from "./QuoteCard.tsx";
import { QuoteLayout } from "./QuoteLayout.tsx";

/** The post that the post being written quotes, with a button to quote none. */
export default function ComposerQuote({ postId, onRemove }: { postId: string; onRemove: () => void }) {
  const { t } = useI18n();
  const from = { __typename: "Post" as const, id: postId };
  const { data, complete } = useFragment({ fragment: QuotedContentFragmentDoc, fragmentName: "QuotedContent", from });
  // After a reload the post may not be known.
  const { loading, error } = useQuery(QuotedDraftDocument, { variables: { postId }, skip: complete });
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        {complete ? <QuoteCard {...data} /> : loading || error ? <QuoteLayout>{error ? t.errors.unreachable : t.loading}</QuoteLayout> : <DeletedQuote />}
      </div>
      <button type="button" aria-label={t.quotes.remove} onClick={onRemove} className="mt-2 rounded-md p-2 text-soft hover:text-ink">
        <CloseIcon />
      </button>
    </div>
  );
}
