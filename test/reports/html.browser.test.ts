import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { writeHtmlReport } from '../../src/reports/html.ts'
import type { Report } from '../../src/reports/report.ts'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { newPage } from '../support/browser.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { HOSTILE } from './hostile-texts.ts'
import { check, finding, report, reportOf, SURROUNDINGS } from './sample-report.ts'

async function open(value: Report): Promise<{ page: Page; complaints: string[] }> {
  const file = join(temporaryFolder(), 'report.html')
  writeFileSync(file, await writeHtmlReport(value, SURROUNDINGS))
  const { page, complaints } = await newPage()
  await page.goto(pathToFileURL(file).href)
  return { page, complaints }
}

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe('the HTML report in a browser', () => {
  it('loads nothing, and runs no script, even one that is put into it', async () => {
    const { page, complaints } = await open({ ...reportOf(HOSTILE.join(' ')), title: 'npm test' })
    expect(await page.evaluate(`performance.getEntriesByType('resource').length`)).toBe(0)
    expect(complaints).toEqual([])
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="document.title = 1">')`)
    await page.evaluate(`{
      const script = document.createElement('script')
      script.append('document.title = 1')
      document.body.append(script)
    }`)
    expect(await page.evaluate('document.title')).toBe('Failed: dmarc-understudy run: npm test')
    expect(complaints.join()).toContain('Content Security Policy')
  })

  const long = 'x'.repeat(500)
  const TWELVE = Array(12).fill('Column')
  const wide = report({
    summary: long,
    findings: [finding({ message: long, details: [{ kind: 'code', text: long }] }), finding({ level: 'warning' })],
    sections: [{ title: 'Wide', blocks: [{ kind: 'table', columns: TWELVE, rows: [TWELVE] }] }],
  })

  it('is readable at any width in light and dark colours', async () => {
    const { page } = await open(wide)
    for (const [width, colorScheme] of [
      [390, 'light'],
      [1280, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      expect(await findAccessibilityProblems(page)).toEqual([])
      const ground = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`)
      expect(ground).toBe(colorScheme === 'light' ? 'rgb(244, 245, 248)' : 'rgb(15, 18, 23)')
    }
  })

  it('is whole on paper: nothing scrolls, and what is folded is open', async () => {
    const { page } = await open({
      ...wide,
      checks: Array.from({ length: 30 }, (_, index) => check({ id: `${index}` })),
    })
    const isShown = `document.querySelector('details tbody').checkVisibility({ contentVisibilityAuto: true })`
    expect(await page.evaluate(isShown)).toBe(false)
    await page.setViewportSize({ width: 700, height: 900 })
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    const isOpen = `document.querySelector('details tbody').getBoundingClientRect().height > 100`
    expect(await page.evaluate(isOpen)).toBe(true)
    const cut = `[...document.querySelectorAll('pre')].filter((each) => each.scrollHeight > each.clientHeight + 1)`
    expect(await page.evaluate(`${cut}.length`)).toBe(0)
    expect(await findAccessibilityProblems(page)).toEqual([])
  })

  it('has headings in order, names for what scrolls, and everything that scrolls in the reach of the keyboard', async () => {
    const { page } = await open(report())
    const headings = `[...document.querySelectorAll('h1, h2, h3')].map((each) => each.firstChild.textContent.trim())`
    expect(await page.evaluate(headings)).toEqual([
      'dmarc-understudy run: npm test',
      'Findings',
      'A field that the contract does not know',
      'Coverage',
      'Checks',
    ])
    expect(await page.getByRole('group').evaluateAll((groups) => groups.map((group) => group.ariaLabel ?? ''))).toEqual(
      expect.arrayContaining(['Command of the remedy', 'Body of the request', 'Expected', 'Received', 'Coverage']),
    )
    const scrolls = `['auto', 'scroll'].includes(getComputedStyle(each).overflowX)`
    const unreachable = `[...document.querySelectorAll('*')].filter((each) => ${scrolls} && each.tabIndex < 0)`
    expect(await page.evaluate(`${unreachable}.length`)).toBe(0)
  })
})
