import { useMutation } from "@apollo/client/react";
import { useState } from "react";
import { UpdateProfileDocument } from "./Settings.documents.ts";
import { countGraphemes, maxBioGraphemes, maxDisplayNameGraphemes } from "../api/text.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { Field, TextField } from "../ui/Field.tsx";
import { useForm } from "../ui/useForm.ts";
import { FormStatus } from "./FormStatus.tsx";

/** Changes the viewer's profile. */
export function ProfileForm({ user }: { user: { displayName: string; bio: string } }) {
  const { t, format } = useI18n();
  const [displayName, setDisplayName] = useState(user.displayName);
  const [bio, setBio] = useState(user.bio);
  const [update] = useMutation(UpdateProfileDocument);
  const form = useForm(async () => (await update({ variables: { input: { displayName, bio } } })).data?.updateProfile?.userErrors ?? []);
  const left = (most: number, text: string) => {
    const count = most - countGraphemes(text);
    return t.settings.left(count, format.number(count));
  };
  return (
    <form {...form.props} className="space-y-3">
      <Field
        label={t.settings.displayName}
        name="displayName"
        value={displayName}
        onChange={(event) => setDisplayName(event.target.value)}
        error={form.errors["displayName"]}
        hint={left(maxDisplayNameGraphemes, displayName)}
        autoComplete="name"
      />
      <TextField
        label={t.settings.bio}
        name="bio"
        rows={4}
        value={bio}
        onChange={(event) => setBio(event.target.value)}
        error={form.errors["bio"]}
        hint={left(maxBioGraphemes, bio)}
      />
      <FormStatus form={form} done={t.settings.saved} />
      <Button type="submit" busy={form.busy}>
        {t.settings.saveProfile}
      </Button>
    </form>
  );
}
