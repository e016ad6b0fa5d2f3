import { useMutation } from "@apollo/client/react";
import { useState, type SubmitEvent } from "react";
import { byField } from "../api/errors.ts";
import { DeleteAccountDocument } from "../api/generated.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { useLeaving } from "./useLeaving.ts";

/** Deletes the viewer's account, after the password has been given once more. */
export function DeleteAccount({ username }: { username: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p className="mb-4">Your posts, lists and follows are deleted with it, for good. The name will be free for others.</p>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Delete my account
      </Button>
      <Dialog open={open} title={`Delete @${username}?`} onClose={() => setOpen(false)}>
        <PasswordQuestion username={username} onKeep={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function PasswordQuestion({ username, onKeep }: { username: string; onKeep: () => void }) {
  const { problem, leave } = useLeaving();
  const [remove, { loading }] = useMutation(DeleteAccountDocument);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    void leave(async () => {
      const errors = byField((await remove({ variables: { password } })).data?.deleteAccount?.userErrors ?? []);
      return Object.values(errors)[0];
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <p className="mb-4">This cannot be undone. Give your password to go on.</p>
      <input type="hidden" name="username" autoComplete="username" value={username} />
      <Field label="Your password" name="password" type="password" autoComplete="current-password" autoFocus error={problem} />
      <div className="mt-4 flex justify-end gap-2">
        <Button kind="quiet" onClick={onKeep}>
          Keep it
        </Button>
        <Button type="submit" kind="danger" busy={loading}>
          Delete for good
        </Button>
      </div>
    </form>
  );
}
