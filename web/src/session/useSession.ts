import { useQuery } from "@apollo/client/react";
import { ViewerTimelinesDocument, type ViewerTimelinesQuery } from "@retwis/client";

export type Viewer = NonNullable<ViewerTimelinesQuery["viewer"]>;

/** Returns who is logged in: null if nobody is, undefined while it is not known. */
export function useViewer(): Viewer | null | undefined {
  const { data } = useQuery(ViewerTimelinesDocument);
  return data === undefined ? undefined : (data.viewer as Viewer | null);
}
