import { useNavigate } from "react-router";
import { PersonField } from "../people/PersonField.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** Goes to somebody's profile by their name. */
export function FindDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const go = (username: string) => {
    onClose();
    void navigate(`/u/${username}`);
  };
  return (
    <Dialog open={open} title="Find somebody" onClose={onClose}>
      <PersonField id="find" label="Username" autoFocus onPick={(person) => go(person.username)} onName={go} />
      <div className="mt-4 flex justify-end gap-2">
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" form="find">
          Go to profile
        </Button>
      </div>
    </Dialog>
  );
}
