import type { ReactNode } from "react";
import { Link } from "wouter";
import { usePathname } from "wouter/use-browser-location";

export interface NavLinkProps {
  to: string;
  /** The link is current on the pages below its own, too, or on one other page. */
  inner?: boolean | string;
  className: string;
  "aria-label"?: string;
  children: ReactNode;
}

/** A link that is marked as current on its own page. */
export function NavLink({ to, inner = false, ...props }: NavLinkProps) {
  const pathname = usePathname();
  const current = pathname === to || (inner === true && pathname.startsWith(`${to}/`)) || pathname === inner;
  return <Link to={to} aria-current={current ? "page" : undefined} {...props} />;
}
