import axe from "axe-core";
import type { Page } from "playwright-core";

/** Besides the usual rules: the name of a control contains its visible label. */
export const allRules: axe.RunOptions = { rules: { "label-content-name-mismatch": { enabled: true } } };
/** What depends on the colours. A change of the theme changes nothing else. */
export const colourRules: axe.RunOptions = { runOnly: ["color-contrast", "link-in-text-block"] };

/** What axe finds on the page, or in a part of it. */
export async function violations(page: Page, options: axe.RunOptions, within?: string): Promise<string[]> {
  const { violations } = await page.evaluate(
    ({ options, within }) => (window as never as { axe: typeof axe }).axe.run(within ?? document, options),
    { options: { ...options, resultTypes: ["violations" as const] }, within },
  );
  return violations.map((v) => `${v.id} at ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
}

/** Adds up what moved without a reason. Runs in the page. */
export function watchShifts(): void {
  const page = window as never as { shifted: number };
  page.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
      if (!entry.hadRecentInput) page.shifted += entry.value;
    }
  }).observe({ type: "layout-shift", buffered: true });
}
