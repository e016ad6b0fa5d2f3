import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { OptionsStatus, optionId, PeopleOptions, useActiveOption } from "../people/PeopleOptions.tsx";
import { usePeopleSearch, type FoundPerson } from "../people/usePeopleSearch.ts";
import { mentionBefore } from "./mentions.ts";

/** Completes the mention that is being written in a field. */
export function useMentionMenu(field: RefObject<HTMLTextAreaElement | null>, text: string, onText: (text: string) => void) {
  const [caret, setCaret] = useState<number>();
  const [dismissed, setDismissed] = useState<number>();
  const next = useRef<number | undefined>(undefined);
  const listId = useId();
  const token = caret === undefined ? undefined : mentionBefore(text, caret);
  const open = token !== undefined && token.at !== dismissed;
  const { people, settled } = usePeopleSearch(open ? token.prefix : "");
  const { active, setActive, onKey: onArrow } = useActiveOption(people, 0);
  const shown = open && people.length > 0;

  // The caret goes behind the name that was put in, once the name is there.
  useLayoutEffect(() => {
    if (next.current === undefined) return;
    field.current?.setSelectionRange(next.current, next.current);
    setCaret(next.current);
    next.current = undefined;
  }, [field, text]);

  const pick = (person: FoundPerson) => {
    if (!token || caret === undefined) return;
    const rest = text.slice(caret);
    const start = `${text.slice(0, token.at)}@${person.username}`;
    next.current = start.length + 1;
    onText(`${start} ${rest.replace(/^ /, "")}`);
  };
  return {
    listId,
    people: shown ? people : [],
    count: open ? people.length : undefined,
    settled,
    active,
    setActive,
    pick,
    /** Looks where the caret is. */
    look: () => {
      const element = field.current;
      const now = element && element.selectionStart === element.selectionEnd ? element.selectionStart : undefined;
      setCaret(now);
      // A mention that was left is a new one when somebody comes back to it.
      if (now === undefined || mentionBefore(element?.value ?? "", now)?.at !== dismissed) setDismissed(undefined);
    },
    close: () => setCaret(undefined),
    /** Takes the keys that are for the menu, and reports whether this one was. */
    onKey: (event: KeyboardEvent): boolean => {
      if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return false;
      if (onArrow(event)) return true;
      const person = people[active];
      if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && person) pick(person);
      else if (event.key === "Escape") setDismissed(token.at);
      else return false;
      event.preventDefault();
      return true;
    },
    aria: {
      "aria-autocomplete": "list" as const,
      "aria-controls": shown ? listId : undefined,
      "aria-activedescendant": shown && active >= 0 ? optionId(listId, active) : undefined,
    },
  };
}

/** The people whom the mention may mean, below the field. */
export function MentionMenu({ listId, people, count, settled, active, setActive, pick }: ReturnType<typeof useMentionMenu>) {
  return (
    <>
      <OptionsStatus count={count} settled={settled} />
      {people.length > 0 && (
        <PeopleOptions
          id={listId}
          people={people}
          active={active}
          onActive={setActive}
          onPick={pick}
          className="absolute top-full left-0 z-20 mt-1 w-full max-w-sm shadow-lg shadow-black/20"
        />
      )}
    </>
  );
}
