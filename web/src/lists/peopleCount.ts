const count = new Intl.NumberFormat("en");

/** How many people, in words. */
export function peopleCount(n: number): string {
  return `${count.format(n)} ${n === 1 ? "person" : "people"}`;
}
