/** The words of a text, without case and accents: about the rule of the server. */
function words(text: string): string[] {
  return text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().match(/[\p{L}\p{Nd}\p{Mc}]+/gu) ?? [];
}

/** Reports whether each word of a query begins a word of a person's names. */
export function couldMatch(person: { username: string; displayName: string }, query: string): boolean {
  const names = [...words(person.username), ...words(person.displayName)];
  return words(query).every((word) => names.some((name) => name.startsWith(word)));
}
