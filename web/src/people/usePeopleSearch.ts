import { useQuery } from "@apollo/client/react";
import { useEffect, useState } from "react";
import type { FindUsersQuery } from "../api/generated.ts";
import { FindUsersDocument } from "./connection.documents.ts";
import { couldMatch } from "./searchWords.ts";

export type FoundPerson = NonNullable<FindUsersQuery["findUsers"]>[number];

const debounce = 150; // ms
const shown = 6;
const maxLength = 80;

export interface PeopleSearch {
  /** The best matches known by now. */
  people: readonly FoundPerson[];
  /** The server has answered for what is typed. */
  settled: boolean;
  error: unknown;
}

/** Finds people by words of their usernames and display names while these are being typed. */
export function usePeopleSearch(typed: string): PeopleSearch {
  const query = typed.trim().slice(0, maxLength);
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), debounce);
    return () => clearTimeout(timer);
  }, [query]);
  const { data, previousData, loading, error } = useQuery(FindUsersDocument, {
    variables: { query: asked },
    skip: asked === "" || query === "",
    fetchPolicy: "no-cache", // results of every query would fill the cache
  });
  const found = query === "" ? undefined : (data ?? previousData)?.findUsers;
  const settled = query === asked && !loading;
  // Matches of a shorter text are shown until the answer for this one arrives.
  const people = found?.filter((person) => settled || couldMatch(person, query)).slice(0, shown) ?? [];
  return { people, settled, error };
}
