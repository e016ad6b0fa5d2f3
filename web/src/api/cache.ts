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
    super({
      possibleTypes: possibleTypes.possibleTypes,
      typePolicies: {
        Query: {
          fields: {
            // A post or timeline that is here already need not be asked for again.
            node: (existing, { args, toReference, canRead }) => {
              if (existing !== undefined) return existing;
              for (const type of ["Post", "Timeline"]) {
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
        User: { fields: { followers: pages, following: pages } },
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

  private refOf(postId: string): string {
    return this.identify({ __typename: "Post", id: postId }) ?? "";
  }
}

/** The connection without some of its nodes; the same object where it has none of them. */
function without(connection: StoredConnection, refs: ReadonlySet<string>): StoredConnection {
  if (refs.size === 0 || !connection.edges.some((edge) => refs.has(edge.node.__ref))) return connection;
  return { ...connection, edges: connection.edges.filter((edge) => !refs.has(edge.node.__ref)) };
}
