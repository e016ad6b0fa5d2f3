import { useQuery } from "@apollo/client/react";
import { useEffect, useState } from "react";
import { SearchUsersDocument, type SearchUsersQuery } from "../api/generated.ts";

export type FoundPerson = NonNullable<SearchUsersQuery["searchUsers"]>["edges"][number]["node"];

const rest = 150; // ms in which nothing is typed, before the server is asked
const most = 6;

export interface PeopleSearch {
  /** The people whose names begin as asked, as far as is known by now. */
  people: readonly FoundPerson[];
  /** These are all there is to know: the server has answered. */
  settled: boolean;
  error: unknown;
}

/** Finds people as somebody types the beginning of a name; nobody while it is none. */
export function usePeopleSearch(typed: string): PeopleSearch {
  const prefix = /^[A-Za-z0-9_]{1,20}$/.test(typed) ? typed.toLowerCase() : "";
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(prefix), rest);
    return () => clearTimeout(timer);
  }, [prefix]);
  const { data, previousData, loading, error } = useQuery(SearchUsersDocument, {
    variables: { prefix: asked, first: most },
    skip: asked === "" || prefix === "",
    fetchPolicy: "no-cache", // names come and go, and nobody needs every beginning of them
  });
  const found = prefix === "" ? undefined : (data ?? previousData)?.searchUsers;
  // What was found for a shorter beginning will do until the answer for this one is there.
  const people = found?.edges.map((edge) => edge.node).filter(({ username }) => username.toLowerCase().startsWith(prefix)) ?? [];
  return { people, settled: prefix === asked && !loading, error };
}
