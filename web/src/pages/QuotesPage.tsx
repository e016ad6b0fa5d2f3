import { useQuery } from "@apollo/client/react";
import { useNextPage } from "@retwis/client";
import { useI18n } from "../i18n/I18n.tsx";
import { PostList } from "../posts/PostList.tsx";
import { useParams } from "../router/useParams.ts";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";
import { QuotesPageDocument } from "./Quotes.documents.ts";
import { useReadAgain } from "./useReadAgain.ts";

/** The posts that quote a post. */
export function QuotesPage() {
  const { t } = useI18n();
  const { id = "" } = useParams();
  const result = useQuery(QuotesPageDocument, { variables: { postId: id }, ...useReadAgain() });
  const { data, error, refetch } = result;
  const quotes = data?.node?.__typename === "Post" ? data.node.quotes : undefined;
  const next = useNextPage(result, quotes);
  if (data && !quotes) return <NotFoundPage text={t.post.missing} />;
  return (
    <>
      <PageTitle>{t.quotes.title}</PageTitle>
      <div className="border-b border-line" />
      {quotes ? (
        <PostList edges={quotes.edges} paging={next} label={t.quotes.title} empty={t.quotes.empty} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
