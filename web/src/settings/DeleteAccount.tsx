import { useMutation } from "@apollo/client/react";
import { useState } from "react";
import { DeleteAccountDocument } from "./Settings.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { forgetUser } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { useForm } from "../ui/useForm.ts";
import { FormStatus } from "./FormStatus.tsx";
import { useLeave } from "./useLeave.ts";

/** Deletes the viewer's account, after the password was entered once more. */
export function DeleteAccount({ username }: { username: string }) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  return (
    <>
      <p className="mb-4">{t.settings.deleteAccountText}</p>
      <Button kind="danger" onClick={() => setOpen(true)}>
        {t.settings.deleteAccount}
      </Button>
      <Dialog open={open} title={t.settings.deleteAccountTitle(username)} onClose={() => setOpen(false)}>
        <PasswordQuestion username={username} onCancel={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function PasswordQuestion({ username, onCancel }: { username: string; onCancel: () => void }) {
  const { t } = useI18n();
  const leave = useLeave();
  const viewer = useViewer();
  const [remove] = useMutation(DeleteAccountDocument);
  const form = useForm(async ({ password = "" }) => {
    const failures = (await remove({ variables: { password } })).data?.deleteAccount?.userErrors ?? [];
    if (failures.length > 0) return failures;
    await leave();
    if (viewer) forgetUser(viewer.user.id);
    return failures;
  });
  return (
    <form {...form.props}>
      <p className="mb-4">{t.settings.deleteAccountConfirm}</p>
      <input type="hidden" name="username" autoComplete="username" value={username} />
      <Field label={t.settings.yourPassword} name="password" type="password" autoComplete="current-password" autoFocus error={form.errors["password"]} />
      <FormStatus form={form} />
      <div className="mt-4 flex justify-end gap-2">
        <Button kind="quiet" onClick={onCancel}>
          {t.cancel}
        </Button>
        <Button type="submit" kind="danger" busy={form.busy}>
          {t.settings.deleteAccount}
        </Button>
      </div>
    </form>
  );
}
