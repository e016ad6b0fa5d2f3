import { useI18n } from "../i18n/I18n.tsx";
import { PersonField } from "../people/PersonField.tsx";
import { navigate } from "../router/visit.ts";
import { Button } from "../ui/Button.tsx";
import { PageTitle } from "../ui/states.tsx";

/** Finds people, as a page of its own. */
export function FindPage() {
  const { t } = useI18n();
  const go = (username: string) => navigate(`/u/${username}`);
  return (
    <>
      <PageTitle>{t.find.title}</PageTitle>
      <div className="max-w-md px-4 sm:px-6">
        <PersonField popup autoFocus id="find-page" label={t.find.label} onPick={(person) => go(person.username)} onName={go} />
        <Button type="submit" form="find-page">
          {t.find.go}
        </Button>
      </div>
    </>
  );
}
