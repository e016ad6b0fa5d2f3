import { useDeletePost } from "@retwis/client";
import { useEffect } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { useVisit } from "../router/visit.ts";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { askToDelete, type Deletion } from "./deletion.ts";

const close = () => askToDelete(undefined);

/** Asks whether to delete a post. A reader who leaves the page is not asked any more. */
export function DeletePostDialog({ deletion }: { deletion: Deletion | undefined }) {
  const { t } = useI18n();
  const { key } = useVisit();
  const remove = useDeletePost();
  useEffect(() => close, [key]);
  return (
    <ConfirmDialog
      open={deletion !== undefined}
      title={t.post.deleteTitle}
      text={t.post.deleteText}
      action={t.delete}
      onConfirm={async () => {
        if (!deletion) return [];
        const failures = await remove(deletion.postId, deletion.authorId, deletion.onDeleted);
        if (failures.length === 0) close();
        return failures;
      }}
      onClose={close}
    />
  );
}
