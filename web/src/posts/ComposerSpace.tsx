/** The space that the composer will take. */
export function ComposerSpace() {
  return (
    <div className="border-b border-line px-4 pb-4 sm:px-6">
      <div className="h-27 rounded-xl border border-line" />
      <div className="mt-2 h-10" />
    </div>
  );
}
