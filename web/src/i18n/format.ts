import type { Messages } from "./en.ts";
import type { Language } from "./language.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats numbers, dates and lists by the browser's locale. */
export class Format {
  /** For numbers: the browser's first choice. */
  private readonly numbers: string;
  /** For dates and lists, which have words in them: the browser's first choice in the language of the page. */
  private readonly words: string;
  private readonly made = new Map<string, unknown>();

  constructor(language: Language, preferred: readonly string[]) {
    this.numbers = preferred[0] ?? language;
    this.words = preferred.find((tag) => tag.split("-")[0] === language) ?? language;
  }

  number(n: number): string {
    return this.cached("number", () => new Intl.NumberFormat(this.numbers)).format(n);
  }

  /** A number that was counted up to a limit. */
  numberUpTo(limit: number, n: number): string {
    return n < limit ? this.number(n) : `${this.number(limit)}+`;
  }

  /** The month and year. */
  month(date: Date): string {
    return this.cached("month", () => new Intl.DateTimeFormat(this.words, { month: "long", year: "numeric" })).format(date);
  }

  /** The full date and time. */
  exact(date: Date): string {
    return this.cached("exact", () => new Intl.DateTimeFormat(this.words, { dateStyle: "long", timeStyle: "short" })).format(date);
  }

  /** The date and time in few characters. */
  brief(date: Date): string {
    return this.cached("brief", () => new Intl.DateTimeFormat(this.words, { dateStyle: "medium", timeStyle: "short" })).format(date);
  }

  /** The parts of an enumeration. */
  list(items: readonly string[]): { type: "element" | "literal"; value: string }[] {
    return this.cached("list", () => new Intl.ListFormat(this.words)).formatToParts(items);
  }

  /** How long ago, in few characters; the date if it is more than a week. */
  age(then: number, now: number, { time }: Messages): string {
    const age = now - then;
    if (age < minute) return time.now; // also if the clocks differ a little
    if (age < hour) return this.unit("minute", "narrow", age / minute);
    if (age < day) return this.unit("hour", "narrow", age / hour);
    if (age < 7 * day) return this.unit("day", "narrow", age / day);
    return this.date(then, now);
  }

  /** How long ago, within a sentence. */
  ago(then: number, now: number, { time }: Messages): string {
    const age = now - then;
    if (age < minute) return time.justNow;
    const relative = this.cached("relative", () => new Intl.RelativeTimeFormat(this.words));
    if (age < hour) return relative.format(-Math.floor(age / minute), "minute");
    if (age < day) return relative.format(-Math.floor(age / hour), "hour");
    if (age < 7 * day) return relative.format(-Math.floor(age / day), "day");
    return this.date(then, now);
  }

  /** A time to wait, in whole units. */
  wait(seconds: number): string {
    if (seconds < 60) return this.unit("second", "long", Math.max(seconds, 1));
    if (seconds < 3600) return this.unit("minute", "long", Math.ceil(seconds / 60));
    return this.unit("hour", "long", Math.ceil(seconds / 3600));
  }

  private date(then: number, now: number): string {
    const sameYear = new Date(then).getFullYear() === new Date(now).getFullYear();
    const options: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", ...(!sameYear && { year: "numeric" }) };
    return this.cached(`date ${sameYear}`, () => new Intl.DateTimeFormat(this.words, options)).format(then);
  }

  private unit(unit: string, unitDisplay: "narrow" | "long", n: number): string {
    return this.cached(`${unit} ${unitDisplay}`, () => new Intl.NumberFormat(this.words, { style: "unit", unit, unitDisplay })).format(Math.floor(n));
  }

  private cached<T>(name: string, make: () => T): T {
    const known = this.made.get(name);
    if (known !== undefined) return known as T;
    const made = make();
    this.made.set(name, made);
    return made;
  }
}
