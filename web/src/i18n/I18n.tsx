import { createContext, use, useMemo, type ReactNode } from "react";
import { en, type Messages } from "./en.ts";
import { Format } from "./format.ts";
import type { Language } from "./language.ts";

interface I18n {
  t: Messages;
  format: Format;
}

const I18nContext = createContext<I18n>({ t: en, format: new Format("en", ["en"]) });

/** Provides texts, and formats for the browser's locale, to the components below. */
export function I18nProvider({ language, messages, children }: { language: Language; messages: Messages; children: ReactNode }) {
  const value = useMemo(() => ({ t: messages, format: new Format(language, preferredLocales()) }), [language, messages]);
  return <I18nContext value={value}>{children}</I18nContext>;
}

/** Returns the texts and formats. */
export function useI18n(): I18n {
  return use(I18nContext);
}

function preferredLocales(): readonly string[] {
  return typeof navigator === "undefined" ? [] : (navigator.languages ?? []);
}
