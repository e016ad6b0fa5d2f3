import { Suspense, useState } from "react";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { useViewer } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { lazily } from "../ui/lazily.ts";
import { Skeleton } from "../ui/states.tsx";

const ListChoices = lazily(async () => (await import("./ListChoices.tsx")).default);

/** Opens a dialog with the viewer's lists, to add a user to them. Absent for visitors. */
export function AddToList({ userId, displayName }: { userId: string; displayName: string }) {
  const { t } = useI18n();
  const viewer = useViewer();
  const [open, setOpen] = useState(false);
  if (!viewer || viewer.user.id === userId) return null;
  return (
    <>
      <button type="button" className="min-h-10 font-medium text-accent underline" onClick={() => setOpen(true)}>
        {t.profile.addToList}
      </button>
      <Dialog open={open} title={t.lists.addTitle(displayName)} onClose={() => setOpen(false)}>
        <Suspense fallback={<Skeleton rows={2} />}>
          <ListChoices userId={userId} displayName={displayName} />
        </Suspense>
        <div className="mt-5 flex items-center justify-between">
          <Link to="/lists" className="font-medium text-accent underline">
            {t.lists.mine}
          </Link>
          <Button onClick={() => setOpen(false)}>{t.done}</Button>
        </div>
      </Dialog>
    </>
  );
}
