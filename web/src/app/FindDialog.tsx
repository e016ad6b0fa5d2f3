import { useI18n } from "../i18n/I18n.tsx";
import { PersonField } from "../people/PersonField.tsx";
import { navigate } from "../router/visit.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** Goes to the profile of a person. */
export default function FindDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useI18n();
  const go = (username: string) => {
    onClose();
    navigate(`/u/${username}`);
  };
  return (
    <Dialog open={open} title={t.find.title} onClose={onClose}>
      <PersonField id="find" label={t.find.label} autoFocus onPick={(person) => go(person.username)} onName={go} />
      <div className="mt-4 flex justify-end gap-2">
        <Button kind="quiet" onClick={onClose}>
          {t.cancel}
        </Button>
        <Button type="submit" form="find">
          {t.find.go}
        </Button>
      </div>
    </Dialog>
  );
}
