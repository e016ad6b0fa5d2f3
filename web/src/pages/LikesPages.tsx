import { useQuery } from "@apollo/client/react";
import { useNextPage } from "@retwis/client";
import { useI18n } from "../i18n/I18n.tsx";
import { PeopleList } from "../people/PeopleList.tsx";
import { PostList } from "../posts/PostList.tsx";
import { useParams } from "../router/useParams.ts";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { LikedPostsPageDocument, LikersPageDocument } from "./Likes.documents.ts";
import { NotFoundPage } from "./NotFoundPage.tsx";
import { useReadAgain } from "./useReadAgain.ts";

/** The users who like a post. */
export function LikersPage() {
  const { t } = useI18n();
  const { id = "" } = useParams();
  const result = useQuery(LikersPageDocument, { variables: { postId: id }, ...useReadAgain() });
  const { data, error, refetch } = result;
  const likers = data?.node?.__typename === "Post" ? data.node.likers : undefined;
  const next = useNextPage(result, likers);
  if (data && !likers) return <NotFoundPage text={t.post.missing} />;
  return (
    <>
      <PageTitle>{t.likes.likers}</PageTitle>
      <div className="border-b border-line" />
      {likers ? (
        <PeopleList edges={likers.edges} paging={next} label={t.likes.likers} empty={<p>{t.likes.noLikers}</p>} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}

/** The posts that the viewer likes. */
export function LikedPostsPage() {
  const { t } = useI18n();
  const result = useQuery(LikedPostsPageDocument, useReadAgain());
  const { data, error, refetch } = result;
  const posts = data?.viewer?.likedPosts;
  const next = useNextPage(result, posts);
  if (data?.viewer === null) return <LoginRequired title={t.likes.title} text={t.welcome.toSee.likes} />;
  return (
    <>
      <PageTitle>{t.likes.title}</PageTitle>
      <div className="border-b border-line" />
      {posts ? (
        <PostList edges={posts.edges} paging={next} label={t.likes.title} empty={t.likes.empty} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
