import { InMemoryCache, type FieldPolicy, type Reference } from "@apollo/client";
import possibleTypes from "./generated.ts";
import { mergePages, type StoredConnection, type StoredEdge } from "./pagination.ts";

/** How many deletions are remembered. */
const rememberedDeletions = 1_000;

/** A post that another one refers to, as the cache stores it: an ancestor, or the post that is quoted. */
interface StoredReference {
  post: Reference | null;
  unavailable: string | null;
}

/** An edge of a timeline, as the cache stores it. */
interface StoredEntry extends StoredEdge {
  reason?: { user: Reference } | null;
}

/** The normalised cache, which knows how the connections of the API grow. */
export class RetwisCache extends InMemoryCache {
  private readonly deleted: Set<string>;

  constructor() {
    const deleted = new Set<string>();
    const pages: FieldPolicy<StoredConnection> = {
      keyArgs: false, // one list, whatever the arguments of its pages
      merge: (existing, incoming, { args }) =>
        mergePages(existing as StoredConnection | undefined, without(incoming as StoredConnection, deleted), args),
    };
    // A header shows a few of them. These are not part of a page of many.
    const sized = { ...pages, keyArgs: ["first"] };
    super({
      possibleTypes: possibleTypes.possibleTypes,
      typePolicies: {
        Query: {
          fields: {
            newestUsers: sized,
            // Cached posts, timelines and lists are not requested again.
            node: (existing, { args, toReference, canRead }) => {
              if (existing !== undefined) return existing;
              for (const type of ["Post", "Timeline", "List"]) {
                const known = toReference({ __typename: type, id: args?.["id"] });
                if (canRead(known)) return known;
              }
              return undefined;
            },
          },
        },
        // The cache keeps the posts of events, not the events.
        Subscription: { fields: { timelineEvents: { merge: (_, incoming: unknown) => incoming } } },
        Timeline: { fields: { posts: pages } },
        Thread: {
          keyFields: ["postId"],
          fields: {
            post: { merge: (_, incoming: Reference | null) => unlessIn(incoming, deleted) },
            ancestors: { merge: (_, incoming: readonly StoredReference[]) => withPlaceholders(incoming, deleted) },
            replies: { ...pages, keyArgs: ["orderBy"] },
          },
        },
        Ancestor: { keyFields: false },
        Post: {
          fields: {
            // Events do not say it. New posts have neither likes nor reposts. Null is what markUnknown writes.
            viewerHasLiked: unlessKnown(false),
            viewerHasReposted: unlessKnown(false),
            repostCount: unlessKnown(0),
            likers: pages,
            quotes: pages,
            quotedPost: {
              // Events bring the id alone. Null is what useQuotedPost reads; a missing field would have pages read again.
              read: (known: StoredReference | null | undefined, { readField, toReference }) => {
                const postId = readField<string | null>("quotedPostId");
                const post = known === undefined && typeof postId === "string" ? toReference({ __typename: "Post", id: postId }) : undefined;
                if (!post) return known ?? null;
                const found = withPlaceholder({ __typename: "QuotedPost", postId, post, unavailable: null }, deleted);
                return found.post === null || readField("createdAt", post) !== undefined ? found : null;
              },
              merge: (_, incoming: StoredReference | null) => incoming && withPlaceholder(incoming, deleted),
            },
          },
        },
        User: { fields: { followers: pages, following: pages, followersYouKnow: sized, commonFollowers: { ...sized, keyArgs: ["with"] } } },
        List: { fields: { members: sized } },
        Viewer: { fields: { lists: pages, likedPosts: pages } },
      },
    });
    this.deleted = deleted;
  }

  /** Reports whether a post is known to be deleted. */
  isDeleted(postId: string): boolean {
    return this.deleted.has(this.refOf("Post", postId));
  }

  /**
   * Removes a deleted post, with all reposts of it, from every timeline and thread, and from pages that were read before the
   * deletion and arrive after it. Threads and quotes show a placeholder in its place. With the id of a repost it removes
   * this repost.
   */
  removePost(postId: string): void {
    const ref = this.refOf("Post", postId);
    this.deleted.add(ref);
    if (this.deleted.size > rememberedDeletions) this.deleted.delete(this.deleted.values().next().value ?? "");
    const refs = new Set([ref]);
    const others = (stored: unknown) => without(stored as StoredConnection, refs);
    const fieldsOf: Record<string, Record<string, (stored: unknown) => unknown>> = {
      Timeline: { posts: others },
      Viewer: { likedPosts: others },
      Thread: {
        post: (post) => unlessIn(post as Reference | null, refs),
        ancestors: (ancestors) => withPlaceholders(ancestors as readonly StoredReference[], refs),
        replies: others,
      },
      Post: {
        quotes: others,
        quotedPost: (quoted) => quoted && withPlaceholder(quoted as StoredReference, refs),
      },
    };
    this.batch({
      update: () => {
        for (const optimistic of [false, true]) {
          for (const [id, stored] of Object.entries(this.extract(optimistic))) {
            const fields = fieldsOf[String(stored?.__typename)];
            if (fields) this.modify<Record<string, unknown>>({ id, optimistic, fields: fields as never });
          }
        }
        this.evict({ id: ref });
      },
    });
  }

  /** Removes a user's repost of a post from every timeline. */
  removeRepost(postId: string, userId: string): void {
    const post = this.refOf("Post", postId);
    const user = this.refOf("User", userId);
    const isRepost = ({ node, reason }: StoredEntry) => node.__ref === post && reason?.user.__ref === user;
    for (const [id, stored] of Object.entries(this.extract())) {
      if (stored?.__typename !== "Timeline") continue;
      this.modify<{ posts: StoredConnection }>({ id, fields: { posts: (posts) => withoutEdges(posts as StoredConnection, isRepost) } });
    }
  }

  /** Removes a deleted list from the viewer's lists. */
  removeList(listId: string): void {
    const ref = this.refOf("List", listId);
    for (const id of Object.keys(this.extract())) {
      if (id.startsWith("Viewer:")) this.removeFrom(id, "lists", ref);
    }
    this.evict({ id: ref });
  }

  /** Removes a user from the members of a list. The server has sent their number. */
  removeMember(listId: string, userId: string): void {
    this.removeFrom(this.refOf("List", listId), "members", this.refOf("User", userId));
  }

  private removeFrom(id: string, field: string, ref: string): void {
    const refs = new Set([ref]);
    this.modify<Record<string, StoredConnection>>({
      id,
      fields: { [field]: (stored) => without(stored as StoredConnection, refs) },
    });
  }

  private refOf(typename: string, id: string): string {
    return this.identify({ __typename: typename, id }) ?? "";
  }
}

/** Reads a field as a default value if the cache does not have it. */
function unlessKnown<T>(value: T): FieldPolicy<T> {
  return { read: (known) => (known === undefined ? value : known) };
}

/** The connection without some of its nodes and reposts; the same object if it has none of them, or only a count. */
function without(connection: StoredConnection, refs: ReadonlySet<string>): StoredConnection {
  if (refs.size === 0) return connection;
  // The ids of reposts are distinct from those of posts.
  return withoutEdges(connection, ({ node, entryId }) => refs.has(node.__ref) || (entryId !== undefined && refs.has(`Post:${entryId}`)));
}

function withoutEdges(connection: StoredConnection, isGone: (edge: StoredEntry) => boolean): StoredConnection {
  const edges = (connection as Partial<StoredConnection>).edges ?? [];
  return edges.some(isGone) ? { ...connection, edges: edges.filter((edge) => !isGone(edge)) } : connection;
}

/** The post, or null if it is one of some deleted ones. */
function unlessIn(post: Reference | null, refs: ReadonlySet<string>): Reference | null {
  return post && refs.has(post.__ref) ? null : post;
}

/** References to posts, with placeholders for some deleted ones. */
function withPlaceholders(references: readonly StoredReference[], refs: ReadonlySet<string>): readonly StoredReference[] {
  return references.some(({ post }) => post && refs.has(post.__ref)) ? references.map((reference) => withPlaceholder(reference, refs)) : references;
}

/** A reference to a post, or a placeholder if the post is one of some deleted ones. */
function withPlaceholder<T extends StoredReference>(reference: T, refs: ReadonlySet<string>): T {
  return reference.post && refs.has(reference.post.__ref) ? { ...reference, post: null, unavailable: "DELETED" } : reference;
}
