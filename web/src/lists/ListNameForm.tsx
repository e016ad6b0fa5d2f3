import { useState, type SubmitEvent } from "react";
import { byField, describeError } from "../api/errors.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";

/** What the server says about a name: nothing is wrong when there are no errors. */
type Saved = readonly { field?: readonly string[] | null; message: string }[];

export interface ListNameFormProps {
  label: string;
  action: string;
  initial?: string;
  save: (name: string) => Promise<Saved>;
  onCancel?: () => void;
}

/** Gives a list a name. */
export function ListNameForm({ label, action, initial = "", save, onCancel }: ListNameFormProps) {
  const [name, setName] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setProblem(undefined);
    setBusy(true);
    try {
      const errors = byField(await save(name));
      const first = errors["name"] ?? Object.values(errors)[0];
      if (first === undefined) setName(initial);
      setProblem(first);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate className="flex flex-wrap items-start gap-x-3 px-4 sm:px-6">
      <div className="min-w-48 flex-1 basis-full sm:basis-0">
        <Field
          label={label}
          name="listName"
          value={name}
          error={problem}
          autoComplete="off"
          autoFocus={onCancel !== undefined}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <div className="mb-3 flex gap-2 sm:mt-6.5">
        <Button type="submit" busy={busy} disabled={name.trim() === ""}>
          {action}
        </Button>
        {onCancel && (
          <Button kind="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}
