import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { writeHtmlReport } from '../../src/reports/html.ts'
import type { Report } from '../../src/reports/report.ts'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { newPage, shareBrowser } from '../support/browser.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { HOSTILE } from './hostile-texts.ts'
import { finding, report, reportOf, SURROUNDINGS } from './sample-report.ts'

async function open(value: Report): Promise<{ page: Page; complaints: string[] }> {
  const file = join(temporaryFolder(), 'report.html')
  writeFileSync(file, await writeHtmlReport(value, SURROUNDINGS))
  const { page, complaints } = await newPage()
  await page.goto(pathToFileURL(file).href)
  return { page, complaints }
}

const ELEMENTS = `[...document.querySelectorAll('*')].map((each) => each.localName)`
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe('the HTML report in a browser', () => {
  shareBrowser()

  it('is no more than texts, whatever a client has sent, and loads nothing', async () => {
    const reports = HOSTILE.map(reportOf)
    const hostile = await open({
      ...reportOf(HOSTILE.join(' ')),
      findings: reports.flatMap(({ findings }) => findings),
      checks: reports.flatMap(({ checks }) => checks),
      sections: reports.flatMap(({ sections }) => sections),
    })
    const one = reportOf('harmless')
    const harmless = await open({
      ...one,
      findings: HOSTILE.flatMap(() => one.findings),
      checks: HOSTILE.flatMap(() => one.checks),
      sections: HOSTILE.flatMap(() => one.sections),
    })
    expect(await hostile.page.evaluate(ELEMENTS)).toEqual(await harmless.page.evaluate(ELEMENTS))
    expect(await hostile.page.evaluate(`performance.getEntriesByType('resource').length`)).toBe(0)
    expect(hostile.complaints).toEqual([])
  })

  it('shows a text as it was sent', async () => {
    const { page } = await open(report({ title: `<b>&amp;</b> "quoted" 'too' 😀` }))
    expect(await page.evaluate(`document.querySelector('h1').textContent`)).toBe(
      `dmarc-understudy run: <b>&amp;</b> "quoted" 'too' 😀`,
    )
  })

  it('runs no script, even one that is put into it', async () => {
    const { page, complaints } = await open(report())
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
  const wide = report({
    summary: long,
    findings: [finding({ message: long, details: [{ kind: 'code', text: long }] }), finding({ level: 'warning' })],
    sections: [
      {
        title: 'Wide',
        blocks: [{ kind: 'table', columns: Array(12).fill('Column'), rows: [Array(12).fill('value')] }],
      },
    ],
  })

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [3840, 'dark'],
  ] as const)('is readable at %d pixels in %s colours', async (width, scheme) => {
    const { page } = await open(wide)
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: scheme })
    expect(await page.evaluate(OVERFLOW)).toBe(0)
    expect(await findAccessibilityProblems(page)).toEqual([])
    const ground = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`)
    expect(ground).toBe(scheme === 'light' ? 'rgb(244, 245, 248)' : 'rgb(15, 18, 23)')
  })

  it('is whole on paper: nothing scrolls, and what is folded is open', async () => {
    const checks = Array.from({ length: 30 }, (_, index) => ({
      id: `${index}`,
      name: `Check ${index}`,
      outcome: 'passed' as const,
    }))
    const { page } = await open({ ...wide, checks })
    expect(
      await page.evaluate(`document.querySelector('details tbody').checkVisibility({ contentVisibilityAuto: true })`),
    ).toBe(false)
    await page.setViewportSize({ width: 700, height: 900 })
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    expect(await page.evaluate(`document.querySelector('details tbody').getBoundingClientRect().height > 100`)).toBe(
      true,
    )
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('pre')].every((each) => each.scrollHeight <= each.clientHeight + 1)`,
      ),
    ).toBe(true)
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
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('*')].filter((each) => ['auto', 'scroll'].includes(getComputedStyle(each).overflowX) && each.tabIndex < 0).length`,
      ),
    ).toBe(0)
  })
})
