import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { writeHtml } from '../../src/reports/html.ts'
import type { Report } from '../../src/reports/report.ts'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { newPage } from '../support/browser.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { HOSTILE } from './hostile-texts.ts'
import { finding, report, reportOf } from './sample-report.ts'

async function open(value: Report): Promise<{ page: Page; complaints: string[] }> {
  const file = join(temporaryFolder(), 'report.html')
  writeFileSync(file, await writeHtml(value))
  const { page, complaints } = await newPage()
  await page.goto(pathToFileURL(file).href)
  return { page, complaints }
}

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe('the HTML report in a browser', () => {
  it('loads nothing, and runs no script, even one that is put into it', async () => {
    const { page, complaints } = await open(reportOf(HOSTILE.join(' ')))
    expect(await page.evaluate(`performance.getEntriesByType('resource').length`)).toBe(0)
    expect(complaints).toEqual([])
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="document.title = 1">')`)
    expect(await page.evaluate('document.title')).toBe('Failed: dmarc-understudy run')
    expect(complaints.join()).toContain('Content Security Policy')
  })

  it('is readable at any width in light and dark colours, and on paper', async () => {
    const long = 'x'.repeat(500)
    const findings = [finding({ message: long, details: [{ title: 'Long', text: long }] }), finding()]
    const { page } = await open(report({ summary: long, findings }))
    for (const [width, colorScheme] of [
      [390, 'light'],
      [1280, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      expect(await findAccessibilityProblems(page)).toEqual([])
    }
    await page.emulateMedia({ media: 'print' })
    const isShown = `[...document.querySelectorAll('details tbody')].every((each) => each.checkVisibility({ contentVisibilityAuto: true }))`
    // The browser needs a frame to lay out anew what was hidden.
    await expect.poll(() => page.evaluate(`document.body.offsetHeight && ${isShown}`)).toBe(true)
  })
})
