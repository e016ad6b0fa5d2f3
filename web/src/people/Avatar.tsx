const shades = [
  "bg-[#0d6b63] text-[#fdfaf4]",
  "bg-[#8a4b2a] text-[#fdfaf4]",
  "bg-[#4a5a8c] text-[#fdfaf4]",
  "bg-[#7a3b5e] text-[#fdfaf4]",
  "bg-[#5c6420] text-[#fdfaf4]",
  "bg-[#2f6280] text-[#fdfaf4]",
  "bg-[#6b4a8c] text-[#fdfaf4]",
  "bg-[#8c3a3a] text-[#fdfaf4]",
];

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Stands for a person: the first letter of the name, in a colour of the person's own. */
export function Avatar({ username, displayName, large = false }: { username: string; displayName: string; large?: boolean }) {
  let sum = 0;
  for (const letter of username) sum = (sum * 31 + letter.charCodeAt(0)) % 9973;
  const [first] = segmenter.segment(displayName);
  return (
    <span
      aria-hidden="true"
      className={`flex shrink-0 items-center justify-center overflow-hidden font-serif font-semibold select-none ${shades[sum % shades.length]} ${large ? "size-16 rounded-2xl text-3xl" : "size-10 rounded-xl text-lg"}`}
    >
      {first?.segment.toUpperCase()}
    </span>
  );
}
