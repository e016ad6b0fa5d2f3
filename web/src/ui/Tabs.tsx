import type { ReactNode } from "react";
import { NavLink } from "../router/NavLink.tsx";

/** Links between the pages of one subject. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex border-b border-line px-2 sm:px-4">
      {children}
    </nav>
  );
}

/** One of the links. With `inner` it is also current on the pages below its own, or on one other page. */
export function Tab({ to, inner = false, children }: { to: string; inner?: boolean | string; children: ReactNode }) {
  return (
    <NavLink
      to={to}
      inner={inner}
      className="-mb-px border-b-2 border-transparent px-2.5 py-2.5 text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
    >
      {children}
    </NavLink>
  );
}
