import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { STYLE } from '../../src/reports/html-style.ts'

/** By name, the colours that a style sheet defines. */
function coloursOf(style: string): Record<string, string> {
  return Object.fromEntries(
    [...style.matchAll(/(--[\w-]+): (light-dark\([^)]*\))/g)].map(([, name, value]) => [name, value]),
  )
}

it('The HTML report has the colours of the dashboard', () => {
  const dashboard = coloursOf(readFileSync(new URL('../../src/dashboard/style/base.css', import.meta.url), 'utf8'))
  const report = coloursOf(STYLE)
  expect(Object.keys(report).length).toBeGreaterThan(5)
  expect(dashboard).toMatchObject(report)
})
