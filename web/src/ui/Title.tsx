import { createContext, use, useEffect, useState, type ReactNode } from "react";
import { useI18n } from "../i18n/I18n.tsx";

interface NumberOfPosts {
  number: string;
  setNumber: (number: string) => void;
}

const NumberContext = createContext<NumberOfPosts>({ number: "", setNumber: () => {} });

/** Lets timelines below put the number of unread or new posts in the title of the page. */
export function TitleProvider({ children }: { children: ReactNode }) {
  const [number, setNumber] = useState("");
  return <NumberContext value={{ number, setNumber }}>{children}</NumberContext>;
}

/** The title of the page, with the number of posts. */
export function Title({ children }: { children: string }) {
  const { t } = useI18n();
  const { number } = use(NumberContext);
  return <title>{number === "" ? children : t.titleWithNew(number, children)}</title>;
}

/** Shows a number of posts in the title of the page, unless it is empty. */
export function useNumberInTitle(number: string): void {
  const { setNumber } = use(NumberContext);
  useEffect(() => {
    setNumber(number);
    return () => setNumber("");
  }, [number, setNumber]);
}
