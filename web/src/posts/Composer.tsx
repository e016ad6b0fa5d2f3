import { useMutation } from "@apollo/client/react";
import { useId, useLayoutEffect, useRef, useState, useSyncExternalStore, type KeyboardEvent, type SubmitEvent } from "react";
import { useLocation } from "react-router";
import { describeError, sentence } from "../api/errors.ts";
import { CreatePostDocument } from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import type { Viewer } from "../session/useSession.ts";
import { prependPosts } from "../timeline/window.ts";
import { Button } from "../ui/Button.tsx";
import { Drafts, emptyDraft } from "./draft.ts";
import { checkPost } from "./limits.ts";
import { MentionMenu, useMentionMenu } from "./MentionMenu.tsx";
import { isPending, pendingId } from "./pending.ts";

const drafts = new Drafts(() => localStorage);

/** Writes posts. What is sent shows at the head of the home timeline at once. */
export function Composer({ viewer, onSent }: { viewer: Viewer; onSent: () => void }) {
  const { ownPosts } = useServices();
  const userId = viewer.user.id;
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.read(userId));
  const [problem, setProblem] = useState<string>();
  const [create] = useMutation(CreatePostDocument);
  const field = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const countId = useId();
  const check = checkPost(draft.text);
  const location = useLocation();
  const invited = (location.state as { compose?: boolean } | null)?.compose === true;
  // As part of showing it: whoever types on at once does not lose a letter.
  useLayoutEffect(() => {
    if (invited) field.current?.focus();
  }, [invited]);

  const send = async () => {
    const { text, key } = draft;
    drafts.send(userId, draft);
    setProblem(undefined);
    const failed = (why: string) => {
      setProblem(why);
      drafts.returned(userId, draft);
    };
    try {
      const { data } = await ownPosts.send(userId, () => {
        const sent = create({
          variables: { input: { text, idempotencyKey: key } },
          optimisticResponse: {
            createPost: {
              __typename: "CreatePostPayload",
              edge: {
                __typename: "PostEdge",
                cursor: "",
                node: {
                  __typename: "Post",
                  id: pendingId(key),
                  text: text.trim(),
                  createdAt: new Date().toISOString(),
                  author: viewer.user,
                  mentions: [],
                } as never,
              },
              userErrors: [],
            },
          },
          update(cache, { data: result }) {
            const edge = result?.createPost?.edge;
            if (!edge) return;
            if (!isPending(edge.node.id)) ownPosts.add(edge.node.id);
            prependPosts(cache, viewer.homeTimeline.id, [{ cursor: edge.cursor, postId: edge.node.id }]);
            cache.modify({
              id: cache.identify({ __typename: "User", id: userId }) ?? "",
              fields: { postCount: (count: number) => count + 1 },
            });
          },
        });
        onSent();
        return sent;
      });
      const failure = data?.createPost?.userErrors[0];
      if (failure) return failed(sentence(failure.message));
      drafts.arrived(userId, draft);
    } catch (error) {
      failed(describeError(error));
    }
  };

  const type = (text: string) => drafts.write(userId, draft.text === text ? draft : emptyDraft(text));
  const menu = useMentionMenu(field, draft.text, type);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (check.ok) void send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (menu.onKey(event)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit();
    if (event.key === "Escape") field.current?.blur();
  };

  return (
    <form ref={form} onSubmit={submit} className="border-b border-line px-4 pb-4 sm:px-6">
      <label htmlFor="composer" className="sr-only">
        What is on your mind?
      </label>
      <div className="relative">
        <textarea
          id="composer"
          ref={field}
          value={draft.text}
          dir="auto"
          rows={3}
          placeholder="What is on your mind?"
          aria-describedby={countId}
          aria-invalid={check.left < 0 || check.problem !== undefined || undefined}
          {...menu.aria}
          onChange={(event) => {
            type(event.target.value);
            menu.look();
          }}
          onSelect={menu.look}
          onBlur={menu.close}
          onKeyDown={onKeyDown}
          className="post-text block max-h-80 min-h-27 w-full resize-none rounded-xl border border-line bg-raised px-4 py-3 [field-sizing:content] placeholder:text-soft aria-invalid:border-warn"
        />
        <MentionMenu {...menu} />
      </div>
      <div className="mt-2 flex items-center gap-3">
        <p role="status" className="min-w-0 flex-1 text-sm text-warn">
          {check.problem ?? problem}
        </p>
        <p id={countId} className={`text-sm tabular-nums ${check.left < 0 ? "font-semibold text-warn" : "text-soft"}`}>
          {check.left}
          <span className="sr-only"> characters left</span>
        </p>
        <Button type="submit" disabled={!check.ok}>
          Post
        </Button>
      </div>
    </form>
  );
}

/** The room that the composer will take. */
export function ComposerSpace() {
  return (
    <div className="border-b border-line px-4 pb-4 sm:px-6">
      <div className="h-27 rounded-xl border border-line" />
      <div className="mt-2 h-10" />
    </div>
  );
}
