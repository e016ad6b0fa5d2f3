import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** Lists the keyboard shortcuts. */
export default function HelpDialog({ open, onClose, loggedIn }: { open: boolean; onClose: () => void; loggedIn: boolean }) {
  const { t } = useI18n();
  const shortcuts = [
    ...(loggedIn ? [["n", t.shortcuts.write], ["Ctrl Enter", t.shortcuts.send], ["r", t.shortcuts.reply], ["q", t.shortcuts.quote]] : []),
    ["j", t.shortcuts.next],
    ["k", t.shortcuts.previous],
    ["Enter", t.shortcuts.open],
    [".", t.shortcuts.newPosts],
    ["/", t.shortcuts.find],
    ["?", t.shortcuts.help],
  ];
  return (
    <Dialog open={open} title={t.shortcuts.title} onClose={onClose}>
      <dl className="mb-5 grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2">
        {shortcuts.map(([key, meaning]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded-md border border-line bg-paper px-2 py-0.5 font-mono text-sm">{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div className="flex justify-end">
        <Button onClick={onClose}>{t.close}</Button>
      </div>
    </Dialog>
  );
}
