import { useState, type SubmitEvent } from "react";
import { useNavigate } from "react-router";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";

/** Goes to somebody's profile by their name. */
export function FindDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [problem, setProblem] = useState<string>();
  const navigate = useNavigate();
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("username")).trim().replace(/^@/, "");
    if (!/^\w{3,20}$/.test(name)) {
      setProblem("Names have 3 to 20 letters, digits and underscores.");
      return;
    }
    setProblem(undefined);
    onClose();
    void navigate(`/u/${name}`);
  };
  return (
    <Dialog open={open} title="Find somebody" onClose={onClose}>
      <form onSubmit={submit} noValidate className="space-y-4" role="search">
        <Field label="Username" name="username" error={problem} autoFocus autoCapitalize="none" autoComplete="off" spellCheck={false} />
        <div className="flex justify-end gap-2">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Go to profile</Button>
        </div>
      </form>
    </Dialog>
  );
}
