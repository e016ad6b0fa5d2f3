import { useI18n } from "../i18n/I18n.tsx";
import { UpIcon } from "../ui/icons.tsx";

/** The line between the posts that are new since the last visit, above it, and those that were read. */
export function LastVisitLine() {
  const { t } = useI18n();
  return (
    <div data-last-visit className="flex items-center justify-center gap-1 border-b border-accent bg-wash px-4 py-1 text-sm font-medium text-accent">
      <UpIcon size={16} />
      {t.post.newSinceLastVisit}
    </div>
  );
}
