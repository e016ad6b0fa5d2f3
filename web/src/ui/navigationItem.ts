/** The classes of an item in the main navigation. */
export const navigationItem =
  "relative flex flex-1 flex-col items-center gap-0.5 rounded-lg px-2 py-1.5 text-xs text-soft hover:text-ink aria-[current=page]:text-accent sm:flex-none sm:flex-row sm:gap-3 sm:px-3 sm:py-2.5 sm:text-base sm:hover:bg-wash sm:aria-[current=page]:bg-wash sm:aria-[current=page]:font-semibold";

/** The classes of the main navigation: beside the page, and below it on phones. */
export const navigationBar =
  "fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-paper px-2 pt-1 pb-[max(0.25rem,env(safe-area-inset-bottom))] sm:static sm:flex-col sm:gap-1 sm:border-0 sm:p-0";
