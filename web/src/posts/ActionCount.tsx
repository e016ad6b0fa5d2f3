import type { ReactNode } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { actionClass } from "./PostLayout.tsx";

export interface ActionCountProps {
  icon: ReactNode;
  count: number;
  /** The number in words, for those who do not see the icon. */
  label: (count: number, formatted: string) => string;
}

/** The number beside a post that visitors see in place of a button. */
export function ActionCount({ icon, count, label }: ActionCountProps) {
  const { format } = useI18n();
  const formatted = format.number(count);
  return (
    <span className={actionClass}>
      {icon}
      {count > 0 && (
        <>
          <span aria-hidden="true">{formatted}</span>
          <span className="sr-only">{label(count, formatted)}</span>
        </>
      )}
    </span>
  );
}

/** Why an action failed, beside its button. */
export function ActionProblem({ children }: { children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <span role="alert" className="self-center text-warn">
      {children}
    </span>
  );
}
