import type { ReactNode } from "react";
import { NavLink } from "../router/NavLink.tsx";

/** Links between the views of one page. */
export function Choices({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex flex-wrap gap-2 border-b border-line px-4 py-3 sm:px-6">
      {children}
    </nav>
  );
}

/** The class of a view to choose. */
export const choiceClass =
  "rounded-full border border-line px-3 py-1 text-sm hover:bg-wash aria-[current=page]:border-accent aria-[current=page]:bg-wash aria-[current=page]:font-semibold aria-pressed:border-accent aria-pressed:bg-wash aria-pressed:font-semibold";

/** One of the links. */
export function Choice({ to, children }: { to: string; children: string }) {
  return (
    <NavLink to={to} className={choiceClass}>
      {children}
    </NavLink>
  );
}
