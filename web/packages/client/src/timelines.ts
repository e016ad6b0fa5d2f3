import type { RetwisApolloClient } from "./apolloClient.ts";
import type { Connection } from "./connection.ts";
import type { TimelineDocuments } from "./documents.ts";
import { LiveTimeline } from "./liveTimeline.ts";
import type { OwnPosts } from "./ownPosts.ts";

const remembered = 12;

/** The timelines that are followed or were visited last. Others are removed, with their posts in the cache. */
export class Timelines {
  private readonly client: RetwisApolloClient;
  private readonly documents: TimelineDocuments;
  private readonly ownPosts: OwnPosts;
  private readonly known = new Map<string, LiveTimeline>();

  constructor(client: RetwisApolloClient, documents: TimelineDocuments, ownPosts: OwnPosts, connection: Connection) {
    this.client = client;
    this.documents = documents;
    this.ownPosts = ownPosts;
    connection.subscribe(() => {
      if (connection.getState() !== "live") for (const timeline of this.known.values()) timeline.interrupted();
    });
  }

  /** Returns the timeline and marks it as visited. */
  get(id: string): LiveTimeline {
    const timeline = this.known.get(id) ?? new LiveTimeline(this.client, this.documents, this.ownPosts, id);
    this.known.delete(id);
    this.known.set(id, timeline);
    let idle = [...this.known.values()].filter(({ followed }) => !followed).length;
    for (const [oldest, forgotten] of this.known) {
      if (idle <= remembered) break;
      if (forgotten.followed) continue;
      idle--;
      this.known.delete(oldest);
      const cached = this.client.cache.identify({ __typename: "Timeline", id: oldest });
      if (cached) this.client.cache.evict({ id: cached, fieldName: "posts" });
      this.client.cache.gc();
    }
    return timeline;
  }

  clear(): void {
    this.known.clear();
  }
}
