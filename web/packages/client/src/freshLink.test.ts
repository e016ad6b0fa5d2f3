import { ApolloLink, execute, gql, type DocumentNode } from "@apollo/client";
import { Observable } from "rxjs";
import { expect, test } from "vitest";
import { FreshLink } from "./freshLink.ts";

/** Sends operations through the link to a server whose answers the test gives, in the order of their requests. */
function open() {
  const waiting: ((answer: string) => void)[] = [];
  const server = new ApolloLink(
    () =>
      new Observable((observer) => {
        waiting.push((answer) => {
          observer.next({ data: { answer } });
          observer.complete();
        });
      }),
  );
  const link = ApolloLink.from([new FreshLink(new Set(["LikePost"])), server]);
  const send = (query: DocumentNode): string[] => {
    const received: string[] = [];
    execute(link, { query }, { client: {} as never }).subscribe((result) => received.push((result.data as { answer: string }).answer));
    return received;
  };
  const answer = (request: number, text: string): void => waiting[request]?.(text);
  return { send, answer, sent: () => waiting.length };
}

const page = gql`query Page { a }`;
const like = gql`mutation LikePost { a }`;
const mark = gql`mutation MarkTimelineRead { a }`;

test("a query is sent again if a mutation was answered meanwhile", () => {
  const { send, answer, sent } = open();
  const pages = send(page);
  const likes = send(like);
  answer(1, "liked");
  answer(0, "before the like");
  expect(pages).toEqual([]);
  send(like);
  answer(3, "liked again");
  answer(2, "after the like");
  expect(pages).toEqual(["after the like"]);
  expect(likes).toEqual(["liked"]);
  expect(sent()).toBe(4);
});

test("a query is sent once if the mutation was answered before or after it, or is another one", () => {
  const { send, answer, sent } = open();
  send(like);
  answer(0, "liked");
  const pages = send(page);
  send(mark);
  answer(2, "marked");
  send(like);
  answer(1, "the page");
  answer(3, "liked");
  expect(pages).toEqual(["the page"]);
  expect(sent()).toBe(4);
});
