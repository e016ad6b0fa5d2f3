const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A person's avatar: the first letter of the display name, on a colour derived from the username. */
export function Avatar({ username, displayName, large = false }: { username: string; displayName: string; large?: boolean }) {
  const [first] = segmenter.segment(displayName);
  return (
    <span
      aria-hidden="true"
      style={{ backgroundColor: colourOf(username) }}
      className={`flex shrink-0 items-center justify-center overflow-hidden font-serif font-semibold text-[#fdfaf4] select-none ${large ? "size-16 rounded-2xl text-3xl" : "size-10 rounded-xl text-lg"}`}
    >
      {first?.segment.toUpperCase()}
    </span>
  );
}

/** One of 360 hues and two depths, each dark enough for light letters. FNV-1a spreads similar names. */
function colourOf(username: string): string {
  let hash = 0x811c9dc5;
  for (const letter of username) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return `oklch(${hash & 0x10000 ? 0.46 : 0.38} 0.09 ${hash % 360})`;
}
