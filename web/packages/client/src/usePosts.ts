import { useMutation } from "@apollo/client/react";
import { useCallback } from "react";
import { DeletePostDocument, TimelinePostFragmentDoc, type CreatePostMutation } from "./generated.ts";
import { isPending, pendingId } from "./pending.ts";
import { changeQuoteCount } from "./quotes.ts";
import { useRetwis } from "./retwis.ts";
import { addReply, changeReplyCount } from "./useThread.ts";
import { entryOfPost, prependEntries } from "./window.ts";

type Payload = NonNullable<CreatePostMutation["createPost"]>;

/** Why the server refused a post. Empty if it did not. */
export type PostErrors = Payload["userErrors"];

export interface NewPost {
  text: string;
  /** The author: the viewer's user. */
  author: { id: string; username: string; displayName: string };
  /** The timeline to show the post in at once: the viewer's home. */
  homeTimelineId: string;
  /** The post that this one answers. */
  inReplyTo?: { id: string; author: { id: string; username: string } } | undefined;
  /** The id of the post that this one quotes. */
  quotedPostId?: string | undefined;
  /** Sending a post again with the same key creates no second one. */
  idempotencyKey: string;
  /** Fields of the app's own `postFragment`, for the time until the server has answered. */
  optimistic?: Record<string, unknown>;
}

/**
 * Returns a function that creates a post. The post is shown at the head of the home timeline
 * at once, and a reply before the other replies. A refused post disappears again. While the network is down, the post waits and
 * is sent when the network is back.
 */
export function useCreatePost(): (post: NewPost) => Promise<PostErrors> {
  const { documents, ownPosts } = useRetwis();
  const [create] = useMutation(documents.createPost);
  return useCallback(
    async ({ text, author, homeTimelineId, inReplyTo, quotedPostId, idempotencyKey, optimistic }) => {
      const node = {
        __typename: "Post",
        id: pendingId(idempotencyKey),
        text: text.trim(),
        createdAt: new Date().toISOString(),
        author: { __typename: "User", ...author },
        entities: [], // the server finds them
        replyCount: 0,
        likeCount: 0,
        inReplyToId: inReplyTo?.id ?? null,
        inReplyToUser: inReplyTo ? { __typename: "User", id: inReplyTo.author.id, username: inReplyTo.author.username } : null,
        quotedPostId: quotedPostId ?? null,
        ...optimistic,
      };
      const { data } = await ownPosts.send(author.id, () =>
        create({
          variables: { input: { text, idempotencyKey, ...(inReplyTo && { inReplyToId: inReplyTo.id }), ...(quotedPostId !== undefined && { quotedPostId }) } },
          optimisticResponse: {
            createPost: {
              __typename: "CreatePostPayload",
              edge: { __typename: "PostEdge", cursor: "", node: node as never },
              userErrors: [],
            },
          },
          update(cache, { data: result }) {
            const edge = result?.createPost?.edge;
            if (!edge) return;
            if (!isPending(edge.node.id)) ownPosts.add(edge.node.id);
            prependEntries(cache, homeTimelineId, [entryOfPost(edge.cursor, edge.node.id)]);
            if (inReplyTo) addReply(cache, inReplyTo.id, edge.node.id);
            if (quotedPostId !== undefined) changeQuoteCount(cache, quotedPostId, 1);
            cache.modify({
              id: cache.identify({ __typename: "User", id: author.id }) ?? "",
              fields: { postCount: (count: number) => count + 1 },
            });
          },
        }),
      );
      return data?.createPost?.userErrors ?? [];
    },
    [create, ownPosts],
  );
}

/**
 * Returns a function that deletes a post of an author. The post disappears from every
 * timeline; `onDeleted` is called just before.
 */
export function useDeletePost(): (postId: string, authorId: string, onDeleted?: () => void) => Promise<PostErrors> {
  const { client } = useRetwis();
  const [remove] = useMutation(DeletePostDocument);
  return useCallback(
    async (postId, authorId, onDeleted) => {
      const { data } = await remove({ variables: { postId } });
      const errors = data?.deletePost?.userErrors ?? [];
      if (errors.length > 0) return errors;
      client.cache.modify({
        id: client.cache.identify({ __typename: "User", id: authorId }) ?? "",
        fields: { postCount: (count: number) => Math.max(count - 1, 0) },
      });
      const from = { __typename: "Post" as const, id: postId };
      const known = client.cache.readFragment({ fragment: TimelinePostFragmentDoc, fragmentName: "TimelinePost", from });
      if (known?.inReplyToId) changeReplyCount(client.cache, known.inReplyToId, -1);
      if (known?.quotedPostId) changeQuoteCount(client.cache, known.quotedPostId, -1);
      onDeleted?.();
      client.cache.removePost(postId);
      return errors;
    },
    [client, remove],
  );
}

/** Returns a key for a new post. */
export function newIdempotencyKey(): string {
  // Not randomUUID: browsers offer that on secure origins only.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
