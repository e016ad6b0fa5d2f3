import { useMutation } from "@apollo/client/react";
import { useState, type SubmitEvent } from "react";
import { Link } from "react-router";
import { byField, describeError } from "../api/errors.ts";
import { LoginDocument, RegisterDocument } from "../api/generated.ts";
import { PlaygroundLink } from "../app/PlaygroundLink.tsx";
import { useServices } from "../app/services.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";

/** The page for who is not logged in. */
export function WelcomePage() {
  const [joining, setJoining] = useState(false);
  return (
    <div className="px-4 pt-8 pb-12 sm:px-10 sm:pt-16">
      <title>Retwis — short posts, live timelines</title>
      <h1 className="max-w-md font-serif text-4xl leading-tight font-semibold tracking-tight sm:text-5xl">Short posts, as they are written.</h1>
      <p className="mt-4 max-w-md text-lg text-soft">
        Follow people, read what they write the moment they write it, and say something yourself. You may also{" "}
        <Link to="/public" className="text-accent underline">
          just read along
        </Link>
        .
      </p>
      <div className="mt-8 max-w-md rounded-2xl border border-line bg-raised p-5 sm:p-6">
        <div role="group" aria-label="Log in or register" className="mb-5 grid grid-cols-2 gap-1 rounded-full bg-wash p-1">
          <Choice chosen={!joining} onClick={() => setJoining(false)}>
            Log in
          </Choice>
          <Choice chosen={joining} onClick={() => setJoining(true)}>
            Register
          </Choice>
        </div>
        <Credentials key={String(joining)} joining={joining} />
      </div>
      <p className="mt-6 text-sm empty:hidden">
        <PlaygroundLink />
      </p>
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

function Credentials({ joining }: { joining: boolean }) {
  const { session } = useServices();
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [login, loggingIn] = useMutation(LoginDocument);
  const [register, registering] = useMutation(RegisterDocument);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const value = (name: string) => String(form.get(name) ?? "");
    const input = { username: value("username").trim(), password: value("password") };
    setErrors({});
    try {
      const displayName = value("displayName").trim();
      const payload = joining
        ? (await register({ variables: { input: displayName ? { ...input, displayName } : input } })).data?.register
        : (await login({ variables: { input } })).data?.login;
      if (payload?.user) await session.changed();
      else setErrors(byField(payload?.userErrors ?? []));
    } catch (error) {
      setErrors({ "": describeError(error) });
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate className="space-y-3">
      {errors[""] && (
        <p role="alert" className="rounded-lg bg-warn-wash px-3 py-2 text-sm text-warn">
          {errors[""]}
        </p>
      )}
      <Field
        label="Username"
        name="username"
        error={errors["username"]}
        hint={joining ? "3 to 20 letters, digits and underscores" : undefined}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      {joining && <Field label="Name to show (optional)" name="displayName" error={errors["displayName"]} autoComplete="name" />}
      <Field
        label="Password"
        name="password"
        type="password"
        error={errors["password"]}
        hint={joining ? "At least 8 characters" : undefined}
        autoComplete={joining ? "new-password" : "current-password"}
        required
      />
      <Button type="submit" className="w-full" busy={loggingIn.loading || registering.loading}>
        {joining ? "Create account" : "Log in"}
      </Button>
    </form>
  );
}
