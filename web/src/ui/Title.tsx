import { createContext, use, useEffect, useState, type ReactNode } from "react";
import { useI18n } from "../i18n/I18n.tsx";

interface NewPosts {
  count: number;
  setCount: (count: number) => void;
}

const NewPostsContext = createContext<NewPosts>({ count: 0, setCount: () => {} });

/** Lets timelines below put the number of new posts in the title of the page. */
export function TitleProvider({ children }: { children: ReactNode }) {
  const [count, setCount] = useState(0);
  return <NewPostsContext value={{ count, setCount }}>{children}</NewPostsContext>;
}

/** The title of the page, with the number of new posts. */
export function Title({ children }: { children: string }) {
  const { t, format } = useI18n();
  const { count } = use(NewPostsContext);
  return <title>{count > 0 ? t.titleWithNew(format.number(count), children) : children}</title>;
}

/** Shows a number of new posts in the title of the page. */
export function useNewPostsInTitle(count: number): void {
  const { setCount } = use(NewPostsContext);
  useEffect(() => {
    setCount(count);
    return () => setCount(0);
  }, [count, setCount]);
}
