import { useI18n } from "../i18n/I18n.tsx";

/** Stands in a thread in place of a deleted post. */
export function DeletedPost() {
  const { t } = useI18n();
  return (
    <div data-deleted className="flex items-center gap-3 border-b border-line px-4 py-4 text-soft sm:px-6">
      <span aria-hidden="true" className="size-10 shrink-0 rounded-xl border border-dashed border-line" />
      <p>{t.thread.deleted}</p>
    </div>
  );
}
