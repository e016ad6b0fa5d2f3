import type { ReactNode } from "react";
import { useI18n } from "../i18n/I18n.tsx";

export interface FrameProps {
  /** The link to the start, which contains the name of the app. */
  brand: (props: { className: string; children: ReactNode }) => ReactNode;
  navigation: ReactNode;
  /** The controls below the navigation; on phones, at the top. */
  controls: ReactNode;
  children: ReactNode;
}

/** The layout around every page: a bar with the navigation, and the page beside or below it. */
export function Frame({ brand, navigation, controls, children }: FrameProps) {
  const { t } = useI18n();
  return (
    <div className="mx-auto flex min-h-dvh max-w-4xl flex-col sm:flex-row lg:max-w-[74rem]">
      <a
        href="#main"
        className="sr-only z-30 rounded-md bg-accent px-4 py-2 text-accent-ink focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        {t.skip}
      </a>
      <header className="sticky top-0 z-20 flex h-14 items-center gap-3 border-b border-line bg-paper px-4 sm:h-dvh sm:w-56 sm:shrink-0 sm:flex-col sm:items-stretch sm:gap-1 sm:overflow-y-auto sm:border-r sm:border-b-0 sm:px-4 sm:py-6">
        {brand({
          className: "flex items-center gap-2.5 rounded-lg font-serif text-xl font-semibold tracking-tight sm:mb-5 sm:px-3 sm:text-2xl",
          children: (
            <>
              <img src="/icon.svg" alt="" width="28" height="28" />
              Retwis
            </>
          ),
        })}
        {navigation}
        <div className="ml-auto flex items-center sm:mt-auto sm:ml-0 sm:flex-wrap sm:justify-between sm:pl-2">{controls}</div>
      </header>
      {children}
    </div>
  );
}

/** The classes of the element main. */
export const mainClass = "w-full min-w-0 flex-1 border-line pb-20 outline-none sm:border-r sm:pb-0";
