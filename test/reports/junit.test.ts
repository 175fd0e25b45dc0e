import { describe, expect, it } from 'vitest'
import type { Report } from '../../src/reports/report.ts'
import { check, finding, report, reportOf } from './sample-report.ts'
import { elementsOf, write } from './structure.ts'

/** The report, which must be one that the readers of JUnit XML understand. */
async function junitOf(value: Report): Promise<string> {
  const text = await write('junit', value)
  expect(elementsOf(text)[0]).toBe('testsuites name,tests,failures,errors,time')
  return text
}

describe('the JUnit report', () => {
  it('has a test case for each check, also for those that are right or were left out', async () => {
    const text = await junitOf(report())
    for (const part of [
      '<testsuites name="dmarc-understudy run: npm test" tests="3" failures="1" errors="0" time="3.250">',
      '<testsuite name="operations" tests="3" failures="1" errors="0" skipped="1" time="0.000" timestamp="2026-01-15T09:00:00">',
      '<property name="Coverage" value="64 % of the responses"/>',
      '<testcase name="listDomains" classname="dmarc-understudy.run.operations" time="0.000"/>',
      '<skipped>It was never called.</skipped>',
      '<failure message="The body has the field &quot;domain&quot;, which the contract does not know." type="violation/unknown_field">',
      'Contract: openapi.yaml:7 (/paths/~1domains/post)',
    ])
      expect(text).toContain(part)
  })

  it('shows a finding that belongs to no check: an error as a failure, anything milder as a note', async () => {
    const findings = [finding(), finding({ level: 'warning', message: 'Mild.' }), finding({ level: 'note' })]
    const text = await junitOf(report({ findings, checks: [] }))
    expect(text).toContain('<testsuite name="findings" tests="3" failures="1"')
    expect(text.match(/<system-out>/g)).toHaveLength(2)
  })

  it('fails when the report has failed, even if no check and no finding did', async () => {
    const text = await junitOf(report({ findings: [], checks: [check()], passed: false, summary: 'No request came.' }))
    expect(text).toContain('<failure message="No request came." type="failed">No request came.</failure>')
  })

  it('of a report without anything in it has no test suite', async () => {
    const text = await junitOf(report({ findings: [], checks: [], facts: [], startedAt: undefined }))
    expect(elementsOf(text)).toHaveLength(1)
  })

  it('has one failure for a check with several findings, with the text of all', async () => {
    const findings = [finding({ message: 'One.' }), finding({ message: 'Two.' })]
    const text = await junitOf(report({ findings, checks: [check({ outcome: 'failed', findings })] }))
    expect(text.match(/<failure /g)).toHaveLength(1)
    expect(text).toMatch(/One\.[\s\S]*----[\s\S]*Two\./)
  })

  it('shows the characters that XML forbids, and keeps all others', async () => {
    const text = await junitOf(reportOf('a\u0000\u001b\ud800\uffff\t\r\nb😀<&>"\''))
    expect(text).toContain('a\\u0000\\u001b\\ud800\\uffff&#9;&#13;&#10;b😀&lt;&amp;&gt;&quot;&apos;')
  })
})
