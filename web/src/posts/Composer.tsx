import { scrollToTop, useCreatePost } from "@retwis/client";
import { Suspense, useId, useLayoutEffect, useRef, useState, useSyncExternalStore, type KeyboardEvent, type RefObject, type SubmitEvent } from "react";
import { describeError, describeUserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useVisit } from "../router/visit.ts";
import type { Viewer } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { lazily } from "../ui/lazily.ts";
import { draftKey, emptyDraft } from "./draft.ts";
import { drafts, quote } from "./drafts.ts";
import { checkPost } from "./limits.ts";
import type { MentionMenuHandle } from "./MentionMenu.tsx";
import { mentionBefore } from "./mentions.ts";

const ComposerQuote = lazily(async () => (await import("./ComposerQuote.tsx")).default);
const MentionMenu = lazily(async () => (await import("./MentionMenu.tsx")).default);

export interface ComposerProps {
  viewer: Viewer;
  /** The post that is answered. */
  inReplyTo?: { id: string; author: { id: string; username: string } };
  /** Why the post can no longer be sent. */
  closed?: string | undefined;
}

/** Writes posts, quotes and replies. A post shows at the head of the home timeline at once, a reply before the other replies. */
export function Composer({ viewer, inReplyTo, closed }: ComposerProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const draftOf = draftKey(viewer.user.id, inReplyTo?.id);
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.read(draftOf));
  const [problem, setProblem] = useState<string>();
  const create = useCreatePost();
  const field = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const countId = useId();
  const check = checkPost(draft.text);
  const mayBeSent = check.ok && closed === undefined;
  const id = inReplyTo ? "reply-composer" : "composer";
  const label = !inReplyTo
    ? t.composer.label
    : inReplyTo.author.id === viewer.user.id
      ? t.composer.continueLabel
      : t.composer.replyLabel(inReplyTo.author.username);
  useInvitation(field);

  const send = async () => {
    const { text, quotedPostId, key } = draft;
    drafts.send(draftOf, draft);
    setProblem(undefined);
    const failed = (why: string) => {
      setProblem(why);
      drafts.returned(draftOf, draft);
    };
    try {
      const sending = create({ text, author: viewer.user, homeTimelineId: viewer.homeTimeline.id, inReplyTo, quotedPostId, idempotencyKey: key });
      if (!inReplyTo) scrollToTop();
      const [failure] = await sending;
      if (failure) failed(describeUserError(failure, i18n));
      else drafts.sent(draftOf, draft);
    } catch (error) {
      failed(`${t.composer.notSent} ${describeError(error, i18n)}`);
    }
  };

  const type = (text: string) => drafts.write(draftOf, draft.text === text ? draft : emptyDraft(text, draft.quotedPostId));
  const removeQuote = () => {
    quote(viewer.user.id, undefined);
    field.current?.focus();
  };
  const mention = useMention(field, draft.text, type);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (mayBeSent) void send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (mention.menu.current?.onKey(event)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit();
    if (event.key === "Escape") field.current?.blur();
  };

  // A text that can no longer be sent can still be copied.
  if (closed !== undefined && draft.text === "") return null;
  return (
    <form ref={form} onSubmit={submit} className="border-b border-line px-4 pb-4 sm:px-6">
      <label htmlFor={id} className={inReplyTo ? "block pt-3 pb-2 text-sm text-soft" : "sr-only"}>
        {label}
      </label>
      <div className="relative">
        <textarea
          id={id}
          ref={field}
          value={draft.text}
          dir="auto"
          rows={inReplyTo ? 2 : 3}
          placeholder={inReplyTo ? undefined : label}
          aria-describedby={countId}
          aria-invalid={check.left < 0 || check.tooManyBytes || undefined}
          {...mention.aria}
          onChange={(event) => {
            type(event.target.value);
            mention.look();
          }}
          onSelect={mention.look}
          onBlur={mention.close}
          onKeyDown={onKeyDown}
          className={`${inReplyTo ? "min-h-20" : "min-h-27"} post-text block max-h-80 w-full resize-none rounded-xl border border-line bg-raised px-4 py-3 [field-sizing:content] placeholder:text-soft aria-invalid:border-warn`}
        />
        {mention.token && (
          <Suspense fallback={null}>
            <MentionMenu ref={mention.menu} listId={mention.listId} prefix={mention.token.prefix} onPick={mention.pick} onActive={mention.setActive} onDismiss={mention.dismiss} />
          </Suspense>
        )}
      </div>
      {draft.quotedPostId !== undefined && (
        <Suspense fallback={null}>
          <ComposerQuote postId={draft.quotedPostId} onRemove={removeQuote} />
        </Suspense>
      )}
      <div className="mt-2 flex items-center gap-3">
        <p role="status" className="min-w-0 flex-1 text-sm text-warn">
          {closed ?? (check.tooManyBytes ? t.composer.tooManyBytes : problem)}
        </p>
        <p id={countId} className={`text-sm tabular-nums ${check.left < 0 ? "font-semibold text-warn" : "text-soft"}`}>
          {check.left}
          <span className="sr-only"> {t.composer.charactersLeft}</span>
        </p>
        <Button type="submit" disabled={!mayBeSent}>
          {inReplyTo ? t.composer.reply : t.composer.post}
        </Button>
      </div>
    </form>
  );
}

/** Focuses the field when the reader navigated here to write. */
function useInvitation(field: RefObject<HTMLTextAreaElement | null>): void {
  const { key, compose } = useVisit();
  // Before the next event: what is typed at once is not lost.
  useLayoutEffect(() => {
    if (compose) field.current?.focus({ preventScroll: true });
  }, [compose, key, field]);
}

/** The mention that is being written in the field, and the menu that completes it. */
function useMention(field: RefObject<HTMLTextAreaElement | null>, text: string, onText: (text: string) => void) {
  const [caret, setCaret] = useState<number>();
  const [dismissed, setDismissed] = useState<number>();
  const [active, setActive] = useState<string>();
  const menu = useRef<MentionMenuHandle>(null);
  const next = useRef<number | undefined>(undefined);
  const listId = useId();
  const found = caret === undefined ? undefined : mentionBefore(text, caret);
  const token = found && found.at !== dismissed ? found : undefined;

  // The caret moves behind an inserted name once the name is there.
  useLayoutEffect(() => {
    if (next.current === undefined) return;
    field.current?.setSelectionRange(next.current, next.current);
    setCaret(next.current);
    next.current = undefined;
  }, [field, text]);

  return {
    menu,
    listId,
    token,
    setActive,
    pick: (username: string) => {
      if (!token || caret === undefined) return;
      const rest = text.slice(caret);
      const start = `${text.slice(0, token.at)}@${username}`;
      next.current = start.length + 1;
      onText(`${start} ${rest.replace(/^ /, "")}`);
    },
    dismiss: () => setDismissed(token?.at),
    /** Looks where the caret is. */
    look: () => {
      const element = field.current;
      const now = element && element.selectionStart === element.selectionEnd ? element.selectionStart : undefined;
      setCaret(now);
      // A dismissed mention gets its menu again after the caret has left it.
      if (now === undefined || mentionBefore(element?.value ?? "", now)?.at !== dismissed) setDismissed(undefined);
    },
    close: () => setCaret(undefined),
    aria: {
      "aria-autocomplete": "list" as const,
      "aria-controls": token && active ? listId : undefined,
      "aria-activedescendant": token ? active : undefined,
    },
  };
}
