import { useEffect, useId, useState, type KeyboardEvent, type SubmitEvent } from "react";
import { describeError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Field } from "../ui/Field.tsx";
import { OptionsStatus, optionId, PeopleOptions, useActiveOption } from "./PeopleOptions.tsx";
import { usePeopleSearch, type FoundPerson } from "./usePeopleSearch.ts";

export interface PersonFieldProps {
  label: string;
  /** Called with the person who was chosen. */
  onPick: (person: FoundPerson) => void;
  /** Called with a username that was submitted and that the search did not find. */
  onName: (username: string) => void;
  error?: string | undefined;
  autoFocus?: boolean;
  /** The matches cover what follows. Otherwise they have a place of their own. */
  popup?: boolean;
  id?: string;
}

/**
 * A form with one field that finds people. Enter chooses the selected match; without one, the
 * person whose username is typed in full; otherwise the first match.
 */
export function PersonField({ label, onPick, onName, error, autoFocus = false, popup = false, id }: PersonFieldProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState<string>();
  // Submitted while the search was running: it is decided when the search has settled.
  const [submitted, setSubmitted] = useState(false);
  const listId = useId();
  const name = typed.trim().replace(/^@/, "");
  const search = usePeopleSearch(open ? name : "");
  const { people, settled } = search;
  const { active, setActive, onKey } = useActiveOption(people, -1);
  const shown = open && people.length > 0;

  const reset = () => {
    setOpen(false);
    setProblem(undefined);
    setSubmitted(false);
  };
  const pick = (person: FoundPerson) => {
    setTyped("");
    reset();
    onPick(person);
  };
  const decide = () => {
    const exact = people.find(({ username }) => username.toLowerCase() === name.toLowerCase());
    const first = exact ?? people[0];
    if (first) return pick(first);
    setSubmitted(false);
    if (!/^\w{3,20}$/.test(name)) return setProblem(t.find.noMatches);
    reset();
    onName(name);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const selected = shown ? people[active] : undefined;
    if (selected) return pick(selected);
    setOpen(true);
    setSubmitted(true);
  };
  useEffect(() => {
    if (submitted && settled) decide();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (onKey(event)) return setOpen(true);
    if (event.key === "Escape" && popup && shown) {
      event.preventDefault();
      setOpen(false);
    }
  };
  const hint = search.error ? describeError(search.error, i18n) : open && name !== "" && settled && people.length === 0 ? t.find.noMatches : undefined;
  return (
    <form id={id} onSubmit={submit} noValidate role="search" className="relative">
      <Field
        label={label}
        name="username"
        value={typed}
        error={problem ?? error}
        hint={hint}
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
          setSubmitted(false);
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
