import { useMutation } from "@apollo/client/react";
import { useState, type SubmitEvent } from "react";
import { byField, describeError } from "../api/errors.ts";
import { UpdateProfileDocument } from "../api/generated.ts";
import { countGraphemes, maxBioGraphemes, maxDisplayNameGraphemes } from "../posts/limits.ts";
import { Button } from "../ui/Button.tsx";
import { Field, TextField } from "../ui/Field.tsx";
import { Verdict, type Outcome } from "./Verdict.tsx";

/** Changes what one's profile says. */
export function ProfileForm({ user }: { user: { displayName: string; bio: string } }) {
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
      <Button type="submit" busy={loading}>
        Save profile
      </Button>
    </form>
  );
}
