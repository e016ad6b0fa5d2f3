import { useQuery } from "@apollo/client/react";
import { useNavigate, useParams } from "react-router";
import { PostPageDocument } from "../api/generated.ts";
import { PostCard } from "../posts/PostCard.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

/** One post. */
export function PostPage() {
  const { id = "" } = useParams();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(PostPageDocument, { variables: { id } });
  if (data && data.node?.__typename !== "Post") {
    return <NotFoundPage what="There is no such post. It may have been deleted." />;
  }
  const post = data?.node?.__typename === "Post" ? data.node : undefined;
  return (
    <>
      <PageTitle title={post ? `${post.author.displayName} (@${post.author.username})` : "Post"}>Post</PageTitle>
      <div className="border-b border-line" />
      {post ? (
        <PostCard post={post} large onDeleted={() => void navigate("/", { replace: true })} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton rows={1} />
      )}
    </>
  );
}
