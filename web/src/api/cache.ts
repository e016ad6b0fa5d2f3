import { InMemoryCache, type FieldPolicy } from "@apollo/client";
import possibleTypes from "./generated.ts";
import { mergePages, type StoredConnection } from "./pagination.ts";

const rememberedGraves = 1_000;

/** The normalised cache, with how its connections grow. */
export class AppCache extends InMemoryCache {
  private readonly buried: Set<string>;

  constructor() {
    const buried = new Set<string>();
    const pages: FieldPolicy<StoredConnection> = {
      keyArgs: false, // one list, whatever the arguments of its pages
      merge: (existing, incoming, { args }) =>
        mergePages(existing as StoredConnection | undefined, without(incoming as StoredConnection, buried), args),
    };
    // A few of them, as a header shows, are no part of a page of many.
    const sized = { ...pages, keyArgs: ["first"] };
    super({
      possibleTypes: possibleTypes.possibleTypes,
      typePolicies: {
        Query: {
          fields: {
            // A post, timeline or list that is here already need not be asked for again.
            newestUsers: sized,
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
        // Events are read as they come; the cache only keeps the posts they bring.
        Subscription: { fields: { timelineEvents: { merge: (_, incoming: unknown) => incoming } } },
        Timeline: { fields: { posts: pages } },
        User: { fields: { followers: pages, following: pages, followersYouKnow: sized, commonFollowers: { ...sized, keyArgs: ["with"] } } },
        List: { fields: { members: sized } },
        Viewer: { fields: { lists: pages } },
      },
    });
    this.buried = buried;
  }

  /** Whether a post is known to be deleted. */
  isBuried(postId: string): boolean {
    return this.buried.has(this.refOf(postId));
  }

  /**
   * Takes a deleted post out of every timeline, also out of pages that are on their way
   * and were read before it was deleted.
   */
  bury(postId: string): void {
    const ref = this.refOf(postId);
    this.buried.add(ref);
    if (this.buried.size > rememberedGraves) this.buried.delete(this.buried.values().next().value ?? "");
    const grave = new Set([ref]);
    this.batch({
      update: () => {
        for (const optimistic of [false, true]) {
          for (const id of Object.keys(this.extract(optimistic))) {
            if (!id.startsWith("Timeline:")) continue;
            this.modify<{ posts: StoredConnection }>({
              id,
              optimistic,
              fields: { posts: (posts) => without(posts as StoredConnection, grave) },
            });
          }
        }
        this.evict({ id: ref });
      },
    });
  }

  /** Takes a deleted list out of the viewer's lists. */
  dropList(listId: string): void {
    const ref = this.identify({ __typename: "List", id: listId }) ?? "";
    for (const id of Object.keys(this.extract())) {
      if (id.startsWith("Viewer:")) this.dropFrom(id, "lists", ref);
    }
    this.evict({ id: ref });
  }

  /** Takes somebody off the members of a list. How many are left the server has said. */
  dropMember(listId: string, userId: string): void {
    const id = this.identify({ __typename: "List", id: listId });
    const ref = this.identify({ __typename: "User", id: userId });
    if (id !== undefined && ref !== undefined) this.dropFrom(id, "members", ref);
  }

  private dropFrom(id: string, field: string, ref: string): void {
    const gone = new Set([ref]);
    this.modify<Record<string, StoredConnection>>({
      id,
      fields: { [field]: (stored) => without(stored as StoredConnection, gone) },
    });
  }

  private refOf(postId: string): string {
    return this.identify({ __typename: "Post", id: postId }) ?? "";
  }
}

/** The connection without some of its nodes; the same object where it has none of them, or only a count. */
function without(connection: StoredConnection, refs: ReadonlySet<string>): StoredConnection {
  const edges = (connection as Partial<StoredConnection>).edges ?? [];
  if (refs.size === 0 || !edges.some((edge) => refs.has(edge.node.__ref))) return connection;
  return { ...connection, edges: edges.filter((edge) => !refs.has(edge.node.__ref)) };
}
