import { useState } from "react";
import type { UserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { useForm } from "../ui/useForm.ts";

export interface ListNameFormProps {
  label: string;
  action: string;
  initial?: string;
  /** Saves the name. It returns the failures that the server reported. */
  save: (name: string) => Promise<readonly UserError[]>;
  onCancel?: () => void;
}

/** Names a list. */
export function ListNameForm({ label, action, initial = "", save, onCancel }: ListNameFormProps) {
  const { t } = useI18n();
  const [name, setName] = useState(initial);
  const form = useForm(async () => {
    const failures = await save(name);
    if (failures.length === 0) setName(initial);
    return failures;
  });
  return (
    <form {...form.props} className="flex flex-wrap items-start gap-x-3 px-4 sm:px-6">
      <div className="min-w-48 flex-1 basis-full sm:basis-0">
        <Field
          label={label}
          name="name"
          value={name}
          error={Object.values(form.errors)[0]}
          autoComplete="off"
          autoFocus={onCancel !== undefined}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <div className="mb-3 flex gap-2 sm:mt-6.5">
        <Button type="submit" busy={form.busy} disabled={name.trim() === ""}>
          {action}
        </Button>
        {onCancel && (
          <Button kind="quiet" onClick={onCancel}>
            {t.cancel}
          </Button>
        )}
      </div>
    </form>
  );
}
