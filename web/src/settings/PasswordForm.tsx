import { useMutation } from "@apollo/client/react";
import { useState, type SubmitEvent } from "react";
import { byField, describeError } from "../api/errors.ts";
import { ChangePasswordDocument, SessionsDocument } from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { Verdict, type Outcome } from "./Verdict.tsx";

/** Changes one's password. */
export function PasswordForm({ username }: { username: string }) {
  const [outcome, setOutcome] = useState<Outcome>({ errors: {} });
  const { client } = useServices();
  const [change, { loading }] = useMutation(ChangePasswordDocument);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    setOutcome({ errors: {} });
    try {
      const input = { currentPassword: String(values.get("currentPassword")), newPassword: String(values.get("newPassword")) };
      const { data } = await change({ variables: { input } });
      const errors = byField(data?.changePassword?.userErrors ?? []);
      if (!data?.changePassword?.user) return setOutcome({ errors });
      form.reset();
      void client.refetchQueries({ include: [SessionsDocument] });
      setOutcome({ errors, done: "Changed. All other sessions have ended." });
    } catch (error) {
      setOutcome({ errors: { "": describeError(error) } });
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate className="space-y-3">
      <input type="hidden" name="username" autoComplete="username" value={username} />
      <Field label="Current password" name="currentPassword" type="password" autoComplete="current-password" error={outcome.errors["currentPassword"]} />
      <Field
        label="New password"
        name="newPassword"
        type="password"
        autoComplete="new-password"
        error={outcome.errors["newPassword"]}
        hint="At least 8 characters"
      />
      <Verdict outcome={outcome} />
      <Button type="submit" busy={loading}>
        Change password
      </Button>
    </form>
  );
}
