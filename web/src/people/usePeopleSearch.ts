import { useQuery } from "@apollo/client/react";
import { useEffect, useState } from "react";
import type { SearchUsersQuery } from "../api/generated.ts";
import { SearchUsersDocument } from "./connection.documents.ts";

export type FoundPerson = NonNullable<SearchUsersQuery["searchUsers"]>["edges"][number]["node"];

const debounce = 150; // ms
const pageSize = 6;

export interface PeopleSearch {
  /** The matches known by now. */
  people: readonly FoundPerson[];
  /** The server has answered for what is typed. */
  settled: boolean;
  error: unknown;
}

/** Finds people by the beginning of a username while it is being typed. */
export function usePeopleSearch(typed: string): PeopleSearch {
  const prefix = /^[A-Za-z0-9_]{1,20}$/.test(typed) ? typed.toLowerCase() : "";
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(prefix), debounce);
    return () => clearTimeout(timer);
  }, [prefix]);
  const { data, previousData, loading, error } = useQuery(SearchUsersDocument, {
    variables: { prefix: asked, first: pageSize },
    skip: asked === "" || prefix === "",
    fetchPolicy: "no-cache", // results of every prefix would fill the cache
  });
  const found = prefix === "" ? undefined : (data ?? previousData)?.searchUsers;
  // Matches of a shorter prefix are shown until the answer for this one arrives.
  const people = found?.edges.map((edge) => edge.node).filter(({ username }) => username.toLowerCase().startsWith(prefix)) ?? [];
  return { people, settled: prefix === asked && !loading, error };
}
