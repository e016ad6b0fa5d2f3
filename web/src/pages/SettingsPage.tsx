import { useMutation, useQuery } from "@apollo/client/react";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { useNavigate } from "react-router";
import { byField, describeError } from "../api/errors.ts";
import {
  ChangePasswordDocument,
  LogoutDocument,
  LogoutEverywhereDocument,
  SettingsPageDocument,
  UpdateProfileDocument,
} from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import { countGraphemes, maxBioGraphemes, maxDisplayNameGraphemes } from "../posts/limits.ts";
import { Button } from "../ui/Button.tsx";
import { Field, TextField } from "../ui/Field.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { WelcomePage } from "./WelcomePage.tsx";

/** What one can change about oneself. */
export function SettingsPage() {
  const { data, error, refetch } = useQuery(SettingsPageDocument);
  if (data?.viewer === null) return <WelcomePage />;
  return (
    <>
      <PageTitle>Settings</PageTitle>
      {data?.viewer ? (
        <>
          <Part title="Profile">
            <ProfileForm user={data.viewer.user} />
          </Part>
          <Part title="Password">
            <PasswordForm username={data.viewer.user.username} />
          </Part>
          <Part title="Sessions">
            <LogoutButtons />
          </Part>
        </>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton rows={3} />
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line px-4 py-6 sm:px-6">
      <h2 className="mb-4 text-lg font-semibold">{title}</h2>
      <div className="max-w-md">{children}</div>
    </section>
  );
}

/** What became of a form that was sent. */
interface Outcome {
  errors: Record<string, string>;
  done?: string;
}

function Verdict({ outcome }: { outcome: Outcome }) {
  return (
    <p role="status" className={`min-h-6 text-sm ${outcome.errors[""] ? "text-warn" : "text-soft"}`}>
      {outcome.errors[""] ?? outcome.done}
    </p>
  );
}

function ProfileForm({ user }: { user: { displayName: string; bio: string } }) {
  const [outcome, setOutcome] = useState<Outcome>({ errors: {} });
  const [displayName, setDisplayName] = useState(user.displayName);
  const [bio, setBio] = useState(user.bio);
  const [update, { loading }] = useMutation(UpdateProfileDocument);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setOutcome({ errors: {} });
    try {
      const { data } = await update({ variables: { input: { displayName, bio } } });
      const errors = byField(data?.updateProfile?.userErrors ?? []);
      setOutcome(data?.updateProfile?.user ? { errors, done: "Saved." } : { errors });
    } catch (error) {
      setOutcome({ errors: { "": describeError(error) } });
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate className="space-y-3">
      <Field
        label="Name to show"
        name="displayName"
        value={displayName}
        onChange={(event) => setDisplayName(event.target.value)}
        error={outcome.errors["displayName"]}
        hint={`${maxDisplayNameGraphemes - countGraphemes(displayName)} characters left`}
        autoComplete="name"
      />
      <TextField
        label="About you"
        name="bio"
        rows={4}
        value={bio}
        onChange={(event) => setBio(event.target.value)}
        error={outcome.errors["bio"]}
        hint={`${maxBioGraphemes - countGraphemes(bio)} characters left`}
      />
      <Verdict outcome={outcome} />
      <Button type="submit" disabled={loading}>
        Save profile
      </Button>
    </form>
  );
}

function PasswordForm({ username }: { username: string }) {
  const [outcome, setOutcome] = useState<Outcome>({ errors: {} });
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
      <Button type="submit" disabled={loading}>
        Change password
      </Button>
    </form>
  );
}

function LogoutButtons() {
  const { session } = useServices();
  const navigate = useNavigate();
  const [problem, setProblem] = useState<string>();
  const [logout, one] = useMutation(LogoutDocument);
  const [logoutEverywhere, all] = useMutation(LogoutEverywhereDocument);
  const leave = async (how: () => Promise<unknown>) => {
    setProblem(undefined);
    try {
      await how();
      void navigate("/", { replace: true });
      await session.changed();
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const busy = one.loading || all.loading;
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <Button kind="quiet" disabled={busy} onClick={() => void leave(logout)}>
          Log out
        </Button>
        <Button kind="danger" disabled={busy} onClick={() => void leave(logoutEverywhere)}>
          Log out everywhere
        </Button>
      </div>
      <p role="status" className="mt-2 min-h-5 text-sm text-warn">
        {problem}
      </p>
    </>
  );
}
