import { colourOf, initialOf } from "./avatarLook.ts";

/** A person's avatar: the first letter of the display name, on a colour derived from the username. */
export function Avatar({ username, displayName, large = false }: { username: string; displayName: string; large?: boolean }) {
  return (
    <span aria-hidden="true" style={{ backgroundColor: colourOf(username) }} className={avatarClass(large)}>
      {initialOf(displayName)}
    </span>
  );
}

export function avatarClass(large: boolean): string {
  const size = large ? "size-16 rounded-2xl text-3xl" : "size-10 rounded-xl text-lg";
  return `flex shrink-0 items-center justify-center overflow-hidden font-serif font-semibold text-[#fdfaf4] select-none ${size}`;
}
