import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * What axe-core finds wrong in what a page shows, by all of its rules: among others the contrast of texts, names of
 * controls, and the order of headings. `within` is a selector: only what is in it is checked.
 */
export async function findAccessibilityProblems(page: Page, within?: string): Promise<string[]> {
  // A text for the console of the browser is no script of the page, so the page's policy does not forbid it.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  const context = within === undefined ? 'document' : JSON.stringify(within)
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${context}, { resultTypes: ['violations'] })`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`,
    ),
  )
}
