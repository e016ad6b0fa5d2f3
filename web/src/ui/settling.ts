const settleFrames = 30;
const takesOver = ["wheel", "touchstart", "keydown", "pointerdown"];

/**
 * Does something from frame to frame, while a list finds out how high it is: until `step`
 * returns true, the list has had its time, or the reader takes over. Returns how to end it.
 */
export function whileSettling(step: () => boolean): () => void {
  let frames = settleFrames;
  const next = () => {
    if (step() || --frames === 0) end();
    else frame = requestAnimationFrame(next);
  };
  let frame = requestAnimationFrame(next);
  const end = () => {
    cancelAnimationFrame(frame);
    for (const kind of takesOver) window.removeEventListener(kind, end);
  };
  for (const kind of takesOver) window.addEventListener(kind, end, { passive: true });
  return end;
}
