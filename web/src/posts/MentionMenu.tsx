import { useEffect, useImperativeHandle, type KeyboardEvent, type Ref } from "react";
import { OptionsStatus, optionId, PeopleOptions, useActiveOption } from "../people/PeopleOptions.tsx";
import { usePeopleSearch, type FoundPerson } from "../people/usePeopleSearch.ts";

export interface MentionMenuHandle {
  /** Handles a key of the field, and reports whether the menu took it. */
  onKey: (event: KeyboardEvent) => boolean;
}

export interface MentionMenuProps {
  ref: Ref<MentionMenuHandle>;
  listId: string;
  /** The name as far as it is written. */
  prefix: string;
  onPick: (username: string) => void;
  /** Called with the id of the selected option; undefined if there is none. */
  onActive: (id: string | undefined) => void;
  onDismiss: () => void;
}

/** The people whose names complete a mention, below the field. The focus stays in the field. */
export default function MentionMenu({ ref, listId, prefix, onPick, onActive, onDismiss }: MentionMenuProps) {
  const { people, settled } = usePeopleSearch(prefix);
  const { active, setActive, onKey } = useActiveOption(people, 0);
  const pick = (person: FoundPerson) => onPick(person.username);
  const activeId = active >= 0 ? optionId(listId, active) : undefined;
  useEffect(() => {
    onActive(activeId);
    return () => onActive(undefined);
  }, [activeId, onActive]);
  useImperativeHandle(ref, () => ({
    onKey: (event) => {
      if (people.length === 0 || event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return false;
      if (onKey(event)) return true;
      const person = people[active];
      if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && person) pick(person);
      else if (event.key === "Escape") onDismiss();
      else return false;
      event.preventDefault();
      return true;
    },
  }));
  return (
    <>
      <OptionsStatus count={people.length} settled={settled} />
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
