import { useEffect, useId, useRef, type ReactNode } from "react";

/** A modal dialog. The browser keeps the focus in it and restores it afterwards. */
export function Dialog({ open, title, onClose, children }: { open: boolean; title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open) dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      // Escape closes through the state, so that the state is never behind what the reader sees: an event of a
      // closed dialog comes later, perhaps when this dialog or another is open already.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (open && !dialog.current?.open) onClose();
      }}
      onClick={(event) => {
        event.stopPropagation();
        if (event.target === dialog.current) onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
      className="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-2xl border border-line bg-raised p-0 text-base text-ink backdrop:bg-black/40"
    >
      {open && (
        <div className="p-6">
          <h2 id={heading} className="mb-4 font-serif text-xl font-semibold [overflow-wrap:anywhere]">
            {title}
          </h2>
          {children}
        </div>
      )}
    </dialog>
  );
}
