import { ApolloLink, execute, gql } from "@apollo/client";
import { Observable, type Subscriber } from "rxjs";
import { expect, test } from "vitest";
import { OrderedLink } from "./orderedLink.ts";

const like = gql`mutation LikePost($postId: ID!) { a }`;
const unlike = gql`mutation UnlikePost($postId: ID!) { a }`;
const post = gql`mutation CreatePost($postId: ID!) { a }`;

/** Sends mutations through the link to a server whose answers the test gives, in any order. */
function open() {
  const sent: { request: string; answer: Subscriber<ApolloLink.Result> }[] = [];
  const server = new ApolloLink(
    ({ operationName, variables }) => new Observable((answer) => void sent.push({ request: `${operationName} ${variables["postId"]}`, answer })),
  );
  let session = 1;
  const link = ApolloLink.from([
    new ApolloLink((operation, forward) => {
      operation.setContext({ session });
      return forward(operation);
    }),
    new OrderedLink(new Set(["LikePost", "UnlikePost"]), (operation) => operation.getContext()["session"] === session),
    server,
  ]);
  const send = (query: typeof like, postId: string): string[] => {
    const received: string[] = [];
    execute(link, { query, variables: { postId } }, { client: {} as never }).subscribe({
      next: ({ data }) => received.push((data as { text: string }).text),
      error: (error: Error) => received.push(error.message),
    });
    return received;
  };
  const answer = async (request: number, text: string): Promise<void> => {
    sent[request]!.answer.next({ data: { text } });
    sent[request]!.answer.complete();
    await turns();
  };
  const fail = async (request: number): Promise<void> => {
    sent[request]!.answer.error(new Error("unreachable"));
    await turns();
  };
  return { send, answer, fail, endSession: () => session++, requests: () => sent.map(({ request }) => request) };
}

/** Waits until all promises that can be fulfilled are. */
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("mutations of one post are sent one after the other, those of other posts at once", async () => {
  const { send, answer, requests } = open();
  const first = send(like, "p");
  const second = send(unlike, "p");
  const third = send(like, "p");
  send(like, "q");
  send(post, "p");
  await turns();
  expect(requests()).toEqual(["LikePost p", "LikePost q", "CreatePost p"]);
  await answer(0, "liked");
  expect(requests().slice(3)).toEqual(["UnlikePost p"]);
  await answer(3, "no longer liked");
  await answer(4, "liked again");
  expect([first, second, third]).toEqual([["liked"], ["no longer liked"], ["liked again"]]);
  send(unlike, "p");
  expect(requests().at(-1)).toBe("UnlikePost p");
});

test("a mutation is sent although the one before it failed", async () => {
  const { send, answer, fail, requests } = open();
  const first = send(like, "p");
  const second = send(unlike, "p");
  await fail(0);
  expect(requests()).toEqual(["LikePost p", "UnlikePost p"]);
  await answer(1, "no longer liked");
  expect([first, second]).toEqual([["unreachable"], ["no longer liked"]]);
});

test("a mutation that waits is not sent in another session", async () => {
  const { send, answer, endSession, requests } = open();
  const first = send(like, "p");
  const second = send(unlike, "p");
  endSession();
  await answer(0, "liked");
  expect(requests()).toEqual(["LikePost p"]);
  expect([first, second]).toEqual([["liked"], ["The session ended before the change was sent."]]);
});
