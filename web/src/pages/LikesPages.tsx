import { useQuery } from "@apollo/client/react";
import { useNextPage } from "@retwis/client";
import { Virtuoso } from "react-virtuoso";
import { useI18n } from "../i18n/I18n.tsx";
import { PeopleList } from "../people/PeopleList.tsx";
import { focusNeighbour } from "../posts/focus.ts";
import { PostCard } from "../posts/PostCard.tsx";
import { useParams } from "../router/useParams.ts";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { MoreBelow } from "../timeline/MoreBelow.tsx";
import { Empty, PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { LikedPostsPageDocument, LikersPageDocument } from "./Likes.documents.ts";
import { NotFoundPage } from "./NotFoundPage.tsx";
import { useReadAgain } from "./useReadAgain.ts";

/** Posts rendered in the first frame: a screen full. */
const firstFrame = 16;

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
  const ids = posts?.edges.map(({ node }) => node.id) ?? [];
  return (
    <>
      <PageTitle>{t.likes.title}</PageTitle>
      <div className="border-b border-line" />
      {!posts ? (
        error ? (
          <Problem error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton />
        )
      ) : posts.edges.length === 0 ? (
        <Empty>{t.likes.empty}</Empty>
      ) : (
        <section aria-label={t.likes.title}>
          <Virtuoso
            useWindowScroll
            data={posts.edges}
            initialItemCount={Math.min(posts.edges.length, firstFrame)}
            context={next}
            computeItemKey={(_, edge) => edge.node.id}
            itemContent={(_, { node }) => <PostCard post={node} onDeleted={() => focusNeighbour(ids, node.id)} />}
            endReached={() => void next.load()}
            components={{ Footer: ({ context }) => <MoreBelow {...context} /> }}
          />
        </section>
      )}
    </>
  );
}
