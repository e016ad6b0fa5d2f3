import { useQuery } from "@apollo/client/react";
import { Link } from "wouter";
import { PostPageDocument } from "./Post.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { PersonRow } from "../people/PersonRow.tsx";
import { PostCard } from "../posts/PostCard.tsx";
import { useParams } from "../router/useParams.ts";
import { navigate } from "../router/visit.ts";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

/** One post and its author. */
export function PostPage() {
  const { t } = useI18n();
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(PostPageDocument, { variables: { id } });
  if (data && data.node?.__typename !== "Post") return <NotFoundPage text={t.post.missing} />;
  const post = data?.node?.__typename === "Post" ? data.node : undefined;
  return (
    <>
      <PageTitle title={post ? `${post.author.displayName} (@${post.author.username})` : t.post.title}>{t.post.title}</PageTitle>
      <div className="border-b border-line" />
      {post ? (
        <>
          <PostCard post={post} large onDeleted={() => navigate("/", { replace: true })} />
          <section aria-label={t.post.author}>
            <PersonRow user={post.author} />
            <p className="px-4 py-5 sm:px-6">
              <Link to={`/u/${post.author.username}`} className="font-medium text-accent underline">
                {t.post.allBy(post.author.displayName)}
              </Link>
            </p>
          </section>
        </>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton rows={1} />
      )}
    </>
  );
}
