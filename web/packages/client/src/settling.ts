const settleFrames = 30;
const takesOver = ["wheel", "touchstart", "keydown", "pointerdown"];

/**
 * Calls `step` in every frame while a virtual list measures its rows: until `step` returns
 * true, a number of frames has passed, or the reader scrolls or types. Returns how to stop it.
 */
export function whileSettling(step: () => boolean, frames = settleFrames): () => void {
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
