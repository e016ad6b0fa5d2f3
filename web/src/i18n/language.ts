import { en, type Messages } from "./en.ts";

/** The languages that have a catalogue. */
export const languages = ["en", "de"] as const;

export type Language = (typeof languages)[number];

/** Returns the language of the page, which the server chose by the browser's preferences. */
export function pageLanguage(): Language {
  const { lang } = document.documentElement;
  return languages.find((language) => language === lang) ?? "en";
}

/** Loads the texts of a language. */
export async function loadMessages(language: Language): Promise<Messages> {
  switch (language) {
    case "de":
      return (await import("./de.ts")).de;
    case "en":
      return en;
  }
}
