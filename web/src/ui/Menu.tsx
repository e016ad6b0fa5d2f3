import { useEffect, useLayoutEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import type { MenuAnchor } from "./MenuButton.tsx";

export interface MenuItem {
  label: string;
  icon: ReactNode;
  onChoose: () => void;
}

export interface MenuProps extends MenuAnchor {
  /** The accessible name. */
  label: string;
  items: readonly MenuItem[];
}

/** The distance of a menu from its button and from the edges of the screen, in pixels. */
const gap = 4;

/** The menu that a button has opened. */
export function Menu({ id, label, items, button, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const latestClose = useRef(onClose);
  useEffect(() => {
    latestClose.current = onClose;
  });
  const close = () => {
    if (menu.current?.contains(document.activeElement)) button.current?.focus({ preventScroll: true });
    onClose();
  };
  useLayoutEffect(() => {
    const element = menu.current;
    const anchor = button.current;
    if (!element || !anchor) return;
    element.showPopover(); // in the top layer nothing covers or clips it
    const follow = () => {
      if (!placeAt(element, anchor)) latestClose.current();
    };
    const leave = (event: PointerEvent) => {
      const within = event.target instanceof Node && (element.contains(event.target) || anchor.contains(event.target));
      if (!within) latestClose.current();
    };
    follow();
    focusItem(element, 0);
    document.addEventListener("pointerdown", leave);
    window.addEventListener("scroll", follow, { passive: true });
    window.addEventListener("resize", follow);
    return () => {
      element.hidePopover();
      document.removeEventListener("pointerdown", leave);
      window.removeEventListener("scroll", follow);
      window.removeEventListener("resize", follow);
    };
  }, [button]);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation(); // the shortcuts of the page do not apply
    const { currentTarget, key } = event;
    const count = items.length;
    const at = items.findIndex((_, i) => currentTarget.children[i] === document.activeElement);
    switch (key) {
      case "Tab":
        return close(); // the browser then moves the focus on from the button
      case "Escape":
        close();
        break;
      case "ArrowDown":
        focusItem(currentTarget, (at + 1) % count);
        break;
      case "ArrowUp":
        focusItem(currentTarget, (at - 1 + count) % count);
        break;
      case "Home":
        focusItem(currentTarget, 0);
        break;
      case "End":
        focusItem(currentTarget, count - 1);
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  return (
    <div
      ref={menu}
      id={id}
      role="menu"
      aria-label={label}
      popover="manual"
      onKeyDown={onKeyDown}
      className="fixed inset-auto m-0 min-w-44 overflow-hidden rounded-xl border border-line bg-raised p-1 text-base text-ink shadow-lg shadow-black/20"
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            close();
            item.onChoose();
          }}
          className="flex min-h-11 w-full items-center gap-3 rounded-lg px-3 text-left whitespace-nowrap outline-offset-[-2px] hover:bg-wash focus-visible:bg-wash"
        >
          {item.icon}
          {item.label}
        </button>
      ))}
    </div>
  );
}

function focusItem(menu: Element, index: number): void {
  (menu.children[index] as HTMLElement | undefined)?.focus({ preventScroll: true });
}

/** Places a menu below its button, or above it where it fits better. Reports whether the button is on the screen. */
function placeAt(menu: HTMLElement, button: HTMLElement): boolean {
  const { top, bottom, left } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const below = bottom + gap;
  const fitsBelow = below + menu.offsetHeight <= clientHeight - gap;
  menu.style.top = `${fitsBelow ? below : Math.max(top - gap - menu.offsetHeight, gap)}px`;
  menu.style.left = `${Math.max(Math.min(left, clientWidth - menu.offsetWidth - gap), gap)}px`;
  return bottom > 0 && top < clientHeight;
}
