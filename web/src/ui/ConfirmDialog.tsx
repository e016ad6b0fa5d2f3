import type { UserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { useAttempt } from "./useAttempt.ts";

export interface ConfirmDialogProps {
  open: boolean;
  title: string;
  text: string;
  /** The label of the button that confirms. */
  action: string;
  /** Runs the action. It returns the failures that the server reported. */
  onConfirm: () => Promise<readonly UserError[]>;
  onClose: () => void;
}

/** Asks before an action that cannot be undone. The focus is on the button that changes nothing. */
export function ConfirmDialog({ open, title, text, action, onConfirm, onClose }: ConfirmDialogProps) {
  const { t } = useI18n();
  const { busy, problem, attempt } = useAttempt();
  return (
    <Dialog open={open} title={title} onClose={onClose}>
      <p className="mb-3">{text}</p>
      <p role="status" className="mb-3 min-h-5 text-sm text-warn">
        {problem}
      </p>
      <div className="flex justify-end gap-2">
        <Button kind="quiet" autoFocus onClick={onClose}>
          {t.cancel}
        </Button>
        <Button kind="danger" busy={busy} onClick={() => void attempt(onConfirm)}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
