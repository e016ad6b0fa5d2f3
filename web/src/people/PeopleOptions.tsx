import { useEffect, useState, type KeyboardEvent } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { Avatar } from "./Avatar.tsx";
import type { FoundPerson } from "./usePeopleSearch.ts";

export interface PeopleOptionsProps {
  id: string;
  people: readonly FoundPerson[];
  active: number;
  onActive: (index: number) => void;
  onPick: (person: FoundPerson) => void;
  className?: string;
}

/** The people to choose from while typing. The focus stays in the field. */
export function PeopleOptions({ id, people, active, onActive, onPick, className = "" }: PeopleOptionsProps) {
  const { t } = useI18n();
  return (
    <ul id={id} role="listbox" aria-label={t.people.list} className={`overflow-hidden rounded-xl border border-line bg-raised ${className}`}>
      {people.map((person, i) => (
        <li
          key={person.id}
          id={optionId(id, i)}
          role="option"
          aria-selected={i === active}
          onPointerDown={(event) => event.preventDefault()} // keeps the focus in the field
          onPointerMove={() => onActive(i)}
          onClick={() => onPick(person)}
          className="flex cursor-pointer items-center gap-3 px-3 py-2 aria-selected:bg-wash"
        >
          <Avatar {...person} />
          <span className="min-w-0">
            <bdi className="block truncate font-semibold">{person.displayName}</bdi>
            <span className="block truncate text-sm text-soft">@{person.username}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Returns the id of an option, for `aria-activedescendant`. */
export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** Announces how many people were found to those who do not see them appear. */
export function OptionsStatus({ count, settled }: { count: number | undefined; settled: boolean }) {
  const { t, format } = useI18n();
  return (
    <p role="status" className="sr-only">
      {count === undefined || !settled ? "" : count === 0 ? t.find.noMatches : t.find.matches(count, format.number(count))}
    </p>
  );
}

/** The option that is selected. It begins with none or the first. */
export function useActiveOption(people: readonly FoundPerson[], begin: -1 | 0) {
  const [active, setActive] = useState<number>(begin);
  const who = people.map(({ id }) => id).join();
  useEffect(() => setActive(begin), [who, begin]);
  const inRange = active < people.length ? active : begin;
  /** Handles the arrow keys, and reports whether the key was one. */
  const onKey = (event: KeyboardEvent): boolean => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || people.length === 0) return false;
    event.preventDefault();
    setActive(inRange < 0 ? (step > 0 ? 0 : people.length - 1) : (inRange + step + people.length) % people.length);
    return true;
  };
  return { active: people.length === 0 ? -1 : inRange, setActive, onKey };
}
