import { useEffect, useState } from "react";
import type { LoginMutation, LoginMutationVariables, RegisterMutation, RegisterMutationVariables } from "../api/generated.ts";
import { request } from "../api/request.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { useForm } from "../ui/useForm.ts";
import loginText from "./Login.graphql?raw";
import registerText from "./Register.graphql?raw";

/** Logs in. Returns the failures that the server reported. */
export async function logIn(username: string, password: string) {
  const { login } = await request<LoginMutation, LoginMutationVariables>("Login", loginText, { input: { username, password } });
  return login?.userErrors ?? [];
}

/** The forms to log in and to register. */
export default function CredentialsCard({ onLoggedIn }: { onLoggedIn: () => Promise<void> }) {
  const { t } = useI18n();
  const [joining, setJoining] = useState(false);
  useEffect(() => {
    const follow = () => setJoining(location.hash === "#register");
    follow();
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  return (
    <div className="max-w-md rounded-2xl border border-line bg-raised p-5 sm:p-6">
      <div role="group" aria-label={t.welcome.choice} className="mb-5 grid grid-cols-2 gap-1 rounded-full bg-wash p-1">
        <Choice chosen={!joining} onClick={() => setJoining(false)}>
          {t.welcome.logIn}
        </Choice>
        <Choice chosen={joining} onClick={() => setJoining(true)}>
          {t.welcome.register}
        </Choice>
      </div>
      <Credentials key={String(joining)} joining={joining} onLoggedIn={onLoggedIn} />
    </div>
  );
}

function Choice({ chosen, onClick, children }: { chosen: boolean; onClick: () => void; children: string }) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onClick}
      className="min-h-10 rounded-full font-medium text-ink aria-pressed:bg-raised aria-pressed:shadow-sm"
    >
      {children}
    </button>
  );
}

function Credentials({ joining, onLoggedIn }: { joining: boolean; onLoggedIn: () => Promise<void> }) {
  const { t } = useI18n();
  const form = useForm(async ({ username = "", password = "", displayName = "" }) => {
    const failures = joining ? await register(username.trim(), password, displayName.trim()) : await logIn(username.trim(), password);
    if (failures.length === 0) await onLoggedIn();
    return failures;
  });
  const { errors } = form;
  return (
    <form {...form.props} method="post" className="space-y-3">
      {errors[""] && (
        <p role="alert" className="rounded-lg bg-warn-wash px-3 py-2 text-sm text-warn">
          {errors[""]}
        </p>
      )}
      <Field
        label={t.welcome.username}
        name="username"
        error={errors["username"]}
        hint={joining ? t.welcome.usernameHint : undefined}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      {joining && <Field label={t.welcome.displayNameOptional} name="displayName" error={errors["displayName"]} autoComplete="name" />}
      <Field
        label={t.welcome.password}
        name="password"
        type="password"
        error={errors["password"]}
        hint={joining ? t.welcome.passwordHint : undefined}
        autoComplete={joining ? "new-password" : "current-password"}
        required
      />
      <Button type="submit" className="w-full" busy={form.busy}>
        {joining ? t.welcome.createAccount : t.welcome.logIn}
      </Button>
    </form>
  );
}

async function register(username: string, password: string, displayName: string) {
  const input = { username, password, ...(displayName !== "" && { displayName }) };
  const { register } = await request<RegisterMutation, RegisterMutationVariables>("Register", registerText, { input });
  return register?.userErrors ?? [];
}
