import { InMemoryCache, type FieldPolicy, type Reference } from "@apollo/client";
import possibleTypes from "./generated.ts";
import { mergePages, type StoredConnection } from "./pagination.ts";

/** How many deletions are remembered. */
const rememberedDeletions = 1_000;

/** A post above another one in its thread, as the cache stores it. */
interface StoredAncestor {
  post: Reference | null;
  unavailable: string | null;
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
            ancestors: { merge: (_, incoming: readonly StoredAncestor[]) => withPlaceholders(incoming, deleted) },
            replies: { ...pages, keyArgs: ["orderBy"] },
          },
        },
        Ancestor: { keyFields: false },
        Post: {
          fields: {
            // Events do not say it. What they bring is new, and nobody likes it yet.
            viewerHasLiked: { read: (known: boolean | undefined) => known ?? false },
            likers: pages,
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
   * Removes a deleted post from every timeline and thread, and from pages that were read before the
   * deletion and arrive after it. Threads show a placeholder in its place.
   */
  removePost(postId: string): void {
    const ref = this.refOf("Post", postId);
    this.deleted.add(ref);
    if (this.deleted.size > rememberedDeletions) this.deleted.delete(this.deleted.values().next().value ?? "");
    const refs = new Set([ref]);
    this.batch({
      update: () => {
        for (const optimistic of [false, true]) {
          for (const id of Object.keys(this.extract(optimistic))) {
            if (id.startsWith("Timeline:")) {
              this.modify<{ posts: StoredConnection }>({
                id,
                optimistic,
                fields: { posts: (posts) => without(posts as StoredConnection, refs) },
              });
            } else if (id.startsWith("Viewer:")) {
              this.modify<{ likedPosts: StoredConnection }>({
                id,
                optimistic,
                fields: { likedPosts: (posts) => without(posts as StoredConnection, refs) },
              });
            } else if (id.startsWith("Thread:")) {
              this.modify<{ post: Reference | null; ancestors: readonly StoredAncestor[]; replies: StoredConnection }>({
                id,
                optimistic,
                fields: {
                  post: (post) => unlessIn(post as Reference | null, refs),
                  ancestors: (ancestors) => withPlaceholders(ancestors as readonly StoredAncestor[], refs),
                  replies: (replies) => without(replies as StoredConnection, refs),
                },
              });
            }
          }
        }
        this.evict({ id: ref });
      },
    });
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

/** The connection without some of its nodes; the same object if it has none of them, or only a count. */
function without(connection: StoredConnection, refs: ReadonlySet<string>): StoredConnection {
  const edges = (connection as Partial<StoredConnection>).edges ?? [];
  if (refs.size === 0 || !edges.some((edge) => refs.has(edge.node.__ref))) return connection;
  return { ...connection, edges: edges.filter((edge) => !refs.has(edge.node.__ref)) };
}

/** The post, or null if it is one of some deleted ones. */
function unlessIn(post: Reference | null, refs: ReadonlySet<string>): Reference | null {
  return post && refs.has(post.__ref) ? null : post;
}

/** The posts above a post, with placeholders for some deleted ones. */
function withPlaceholders(ancestors: readonly StoredAncestor[], refs: ReadonlySet<string>): readonly StoredAncestor[] {
  if (!ancestors.some(({ post }) => post && refs.has(post.__ref))) return ancestors;
  return ancestors.map((ancestor) => (ancestor.post && refs.has(ancestor.post.__ref) ? { ...ancestor, post: null, unavailable: "DELETED" } : ancestor));
}
