import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { PageTitle } from "../ui/states.tsx";

/** Says that something does not exist: the page, unless `text` says something else. */
export function NotFoundPage({ text }: { text?: string }) {
  const { t } = useI18n();
  return (
    <>
      <PageTitle>{t.notFound.title}</PageTitle>
      <p className="px-4 sm:px-6">{text ?? t.notFound.page}</p>
      <p className="px-4 pt-4 sm:px-6">
        <Link to="/" className="font-medium text-accent underline">
          {t.notFound.home}
        </Link>
      </p>
    </>
  );
}
