import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

const keys = [
  ["j", "Next post"],
  ["k", "Previous post"],
  ["Enter", "Open the post"],
  [".", "Show new posts"],
  ["/", "Find somebody"],
  ["?", "Show this help"],
] as const;

/** Lists the keys. */
export function HelpDialog({ open, onClose, loggedIn }: { open: boolean; onClose: () => void; loggedIn: boolean }) {
  const shown = loggedIn ? ([["n", "Write a post"], ["Ctrl Enter", "Send the post"], ...keys] as const) : keys;
  return (
    <Dialog open={open} title="Keys" onClose={onClose}>
      <dl className="mb-5 grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2">
        {shown.map(([key, meaning]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded-md border border-line bg-paper px-2 py-0.5 font-mono text-sm">{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
