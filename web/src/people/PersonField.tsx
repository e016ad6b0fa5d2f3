import { useId, useState, type KeyboardEvent, type SubmitEvent } from "react";
import { describeError } from "../api/errors.ts";
import { Field } from "../ui/Field.tsx";
import { OptionsStatus, optionId, PeopleOptions, useActiveOption } from "./PeopleOptions.tsx";
import { usePeopleSearch, type FoundPerson } from "./usePeopleSearch.ts";

export interface PersonFieldProps {
  label: string;
  /** Somebody was chosen from the list. */
  onPick: (person: FoundPerson) => void;
  /** A name was typed, and sent as it is. */
  onName: (username: string) => void;
  error?: string | undefined;
  autoFocus?: boolean;
  /** Where those who were found are shown: over what follows, or in a place kept for them. */
  popup?: boolean;
  id?: string;
}

/** A form of one field, that finds people by how their names begin. */
export function PersonField({ label, onPick, onName, error, autoFocus = false, popup = false, id }: PersonFieldProps) {
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState<string>();
  const listId = useId();
  const name = typed.trim().replace(/^@/, "");
  const search = usePeopleSearch(open ? name : "");
  const { people, settled } = search;
  const { active, setActive, onKey } = useActiveOption(people, -1);
  const shown = open && people.length > 0;

  const pick = (person: FoundPerson) => {
    setTyped("");
    setOpen(false);
    setProblem(undefined);
    onPick(person);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const person = shown ? people[active] : undefined;
    if (person) return pick(person);
    if (!/^\w{3,20}$/.test(name)) return setProblem("Names have 3 to 20 letters, digits and underscores.");
    setProblem(undefined);
    setOpen(false);
    onName(name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (onKey(event)) return setOpen(true);
    if (event.key === "Escape" && popup && shown) {
      event.preventDefault();
      setOpen(false);
    }
  };
  return (
    <form id={id} onSubmit={submit} noValidate role="search" className="relative">
      <Field
        label={label}
        name="username"
        value={typed}
        error={problem ?? error}
        hint={search.error ? describeError(search.error) : open && name !== "" && settled && people.length === 0 ? "Nobody’s name begins like this." : undefined}
        role="combobox"
        aria-expanded={shown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={shown && active >= 0 ? optionId(listId, active) : undefined}
        autoFocus={autoFocus}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setTyped(event.target.value);
          setOpen(true);
          setProblem(undefined);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => popup && setOpen(false)}
      />
      <OptionsStatus count={open && name !== "" ? people.length : undefined} settled={settled} />
      <div className={popup ? "absolute inset-x-0 top-18 z-10" : "h-[22.25rem]"}>
        {shown && (
          <PeopleOptions
            id={listId}
            people={people}
            active={active}
            onActive={setActive}
            onPick={pick}
            className={popup ? "shadow-lg shadow-black/20" : ""}
          />
        )}
      </div>
    </form>
  );
}
