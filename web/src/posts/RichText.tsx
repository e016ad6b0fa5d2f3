import type { MouseEvent } from "react";
import { Link } from "wouter";
import { tagPath } from "./tagPath.ts";
import { collapseBlankLines, splitText, type TextEntity } from "./textPieces.ts";

export interface RichTextProps {
  id?: string;
  text: string;
  /** The links, mentions and hashtags in the text. */
  entities: readonly TextEntity[];
  className?: string;
  /** For the mouse; the keyboard opens the post itself. */
  onClick?: (event: MouseEvent) => void;
}

const linkStyle = "text-accent underline decoration-1 underline-offset-2 hover:decoration-2";

/** A text by a user, with its links. More than one blank line in a row is shown as one. */
export function RichText({ id, text, entities, className = "", onClick }: RichTextProps) {
  return (
    <p id={id} dir="auto" onClick={onClick} className={`post-text ${className}`}>
      {splitText(text, entities).map((piece, i) => {
        const path = piece.username ? `/u/${piece.username}` : piece.tag && tagPath(piece.tag);
        if (path) {
          return (
            <Link key={i} to={path} className={linkStyle}>
              {piece.text}
            </Link>
          );
        }
        if (piece.url) {
          return (
            <a key={i} href={piece.url} target="_blank" rel="nofollow noopener ugc" className={linkStyle}>
              {piece.text}
            </a>
          );
        }
        return collapseBlankLines(piece.text);
      })}
    </p>
  );
}
