import type { AppClient } from "../api/client.ts";
import type { Connection } from "../live/connection.ts";
import { LiveTimeline } from "./liveTimeline.ts";
import type { OwnPosts } from "./ownPosts.ts";

const remembered = 12;

/** The timelines that were visited last. Those visited before them are forgotten, posts and all. */
export class Timelines {
  private readonly client: AppClient;
  private readonly ownPosts: OwnPosts;
  private readonly known = new Map<string, LiveTimeline>();

  constructor(client: AppClient, ownPosts: OwnPosts, connection: Connection) {
    this.client = client;
    this.ownPosts = ownPosts;
    connection.subscribe(() => {
      if (connection.getState() !== "live") for (const timeline of this.known.values()) timeline.interrupted();
    });
  }

  /** Returns the timeline, and counts it as visited. */
  get(id: string): LiveTimeline {
    const timeline = this.known.get(id) ?? new LiveTimeline(this.client, this.ownPosts, id);
    this.known.delete(id);
    this.known.set(id, timeline);
    for (const [oldest, forgotten] of this.known) {
      if (this.known.size <= remembered) break;
      if (forgotten.followed) continue;
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
