import type { MouseEvent } from "react";
import { Link } from "wouter";
import { splitMentions } from "./mentions.ts";

export interface RichTextProps {
  id?: string;
  text: string;
  mentions: readonly { username: string }[];
  className?: string;
  /** For the mouse; the keyboard opens the post itself. */
  onClick?: (event: MouseEvent) => void;
}

/** A text by a user, with its links. More than one blank line in a row is shown as one. */
export function RichText({ id, text, mentions, className = "", onClick }: RichTextProps) {
  return (
    <p id={id} dir="auto" onClick={onClick} className={`post-text ${className}`}>
      {splitMentions(text, mentions).map((piece, i) =>
        piece.username === undefined ? (
          collapseBlankLines(piece.text)
        ) : (
          <Link key={i} to={`/u/${piece.username}`} className="text-accent underline decoration-1 underline-offset-2 hover:decoration-2">
            {piece.text}
          </Link>
        ),
      )}
    </p>
  );
}

function collapseBlankLines(text: string): string {
  return text.replace(/\n(?:[^\S\n]*\n){2,}/g, "\n\n");
}
