import { useQuery } from "@apollo/client/react";
import { SessionDocument, type SessionQuery } from "../api/generated.ts";

export type Viewer = NonNullable<SessionQuery["viewer"]>;

/** Who is logged in: null when nobody is, undefined while that is not known. */
export function useViewer(): Viewer | null | undefined {
  const { data } = useQuery(SessionDocument);
  return data === undefined ? undefined : (data.viewer as Viewer | null);
}
