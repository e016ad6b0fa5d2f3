import { Suspense, useId, useRef, useState, type ComponentProps, type ReactNode, type RefObject } from "react";

/** What an open menu needs of its button. */
export interface MenuAnchor {
  id: string;
  button: RefObject<HTMLButtonElement | null>;
  onClose: () => void;
}

export interface MenuButtonProps extends Omit<ComponentProps<"button">, "ref" | "type"> {
  /** Renders the menu, which may be loaded on demand. */
  menu: (anchor: MenuAnchor) => ReactNode;
}

/** A button that opens a menu. The focus returns to the button when the menu closes. */
export function MenuButton({ menu, ...props }: MenuButtonProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    <>
      <button
        {...props}
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          setOpen(true);
        }}
      />
      <Suspense>{open && menu({ id, button, onClose: () => setOpen(false) })}</Suspense>
    </>
  );
}
