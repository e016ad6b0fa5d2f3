import { UpIcon } from "../ui/icons.tsx";

/** Says how many posts have arrived, and shows them when asked to. It takes up no room. */
export function NewPostsPill({ count, more, onClick }: { count: number; more: boolean; onClick: () => void }) {
  const label = more || count === 0 ? "New posts" : `${count} new ${count === 1 ? "post" : "posts"}`;
  return (
    <div role="status" className="pointer-events-none sticky top-16 z-10 flex h-0 justify-center sm:top-3">
      {(count > 0 || more) && (
        <button
          type="button"
          onClick={onClick}
          className="pointer-events-auto flex h-10 items-center gap-1.5 rounded-full bg-accent pr-5 pl-3.5 text-sm font-semibold text-accent-ink shadow-lg shadow-black/20"
        >
          <UpIcon />
          {label}
        </button>
      )}
    </div>
  );
}
