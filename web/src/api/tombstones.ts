import type { FieldReadFunction, Reference } from "@apollo/client";

const kept = 1_000;

/** The latest posts that were deleted, so that none of them comes back. */
export class Tombstones {
  private readonly ids = new Set<string>();

  add(postId: string): void {
    this.ids.delete(postId);
    this.ids.add(postId);
    if (this.ids.size > kept) {
      for (const oldest of this.ids) {
        this.ids.delete(oldest);
        break;
      }
    }
  }

  /** A field policy for lists of edges: it leaves out those whose node is gone. */
  readonly filter: FieldReadFunction<readonly { node: Reference }[]> = (edges, { canRead, readField }) => {
    const there = ({ node }: { node: Reference }) => canRead(node) && !this.ids.has(readField<string>("id", node) ?? "");
    // The same array as before is cheaper for everybody who compares.
    return edges === undefined || edges.every(there) ? edges : edges.filter(there);
  };
}
