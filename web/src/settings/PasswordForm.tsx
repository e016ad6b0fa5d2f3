import { useMutation } from "@apollo/client/react";
import { ChangePasswordDocument, SessionsDocument } from "./Settings.documents.ts";
import { useServices } from "../app/services.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { useForm } from "../ui/useForm.ts";
import { FormStatus } from "./FormStatus.tsx";

/** Changes the viewer's password. */
export function PasswordForm({ username }: { username: string }) {
  const { t } = useI18n();
  const { client } = useServices();
  const [change] = useMutation(ChangePasswordDocument);
  const form = useForm(async ({ currentPassword = "", newPassword = "" }, element) => {
    const { data } = await change({ variables: { input: { currentPassword, newPassword } } });
    const failures = data?.changePassword?.userErrors ?? [];
    if (failures.length > 0) return failures;
    element.reset();
    void client.refetchQueries({ include: [SessionsDocument] });
    return [];
  });
  return (
    <form {...form.props} className="space-y-3">
      <input type="hidden" name="username" autoComplete="username" value={username} />
      <Field label={t.settings.currentPassword} name="currentPassword" type="password" autoComplete="current-password" error={form.errors["currentPassword"]} />
      <Field
        label={t.settings.newPassword}
        name="newPassword"
        type="password"
        autoComplete="new-password"
        error={form.errors["newPassword"]}
        hint={t.welcome.passwordHint}
      />
      <FormStatus form={form} done={t.settings.passwordChanged} />
      <Button type="submit" busy={form.busy}>
        {t.settings.changePassword}
      </Button>
    </form>
  );
}
