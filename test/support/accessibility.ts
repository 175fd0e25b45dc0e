import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The result of axe-core, of which only this is used. */
interface Findings {
  violations: readonly { id: string; help: string; nodes: readonly { html: string; failureSummary?: string }[] }[]
}

/**
 * What axe-core finds wrong in what a page shows, by all of its rules: among others the contrast of texts, names of
 * controls, and the order of headings. `within` is a selector: only what is in it is checked.
 */
export async function findAccessibilityProblems(page: Page, within?: string): Promise<string[]> {
  // A text for the console of the browser is no script of the page, so the page's policy does not forbid it.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE)
  const context = within === undefined ? 'document' : JSON.stringify(within)
  const { violations } = await page.evaluate<Findings>(`axe.run(${context}, { resultTypes: ['violations'] })`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`,
    ),
  )
}
