import { InMemoryCache } from "@apollo/client";
import possibleTypes from "./generated.ts";
import { peoplePages, postPages } from "./pagination.ts";
import { Tombstones } from "./tombstones.ts";

/** The normalised cache, with how its connections grow. */
export class AppCache extends InMemoryCache {
  private readonly tombstones: Tombstones;

  constructor() {
    const tombstones = new Tombstones();
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
        Timeline: { fields: { posts: postPages } },
        User: { fields: { followers: peoplePages, following: peoplePages } },
        PostConnection: { fields: { edges: tombstones.filter } },
      },
    });
    this.tombstones = tombstones;
  }

  /**
   * Takes a deleted post out of every timeline, also out of pages that are on their way
   * and were read before it was deleted.
   */
  bury(postId: string): void {
    this.tombstones.add(postId);
    const id = this.identify({ __typename: "Post", id: postId });
    if (id) this.evict({ id });
  }
}
