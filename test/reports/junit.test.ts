import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { writeJUnitReport } from '../../src/reports/junit.ts'
import type { Report } from '../../src/reports/report.ts'
import { budget, sample } from '../support/budget.ts'
import { HOSTILE } from './hostile-texts.ts'
import { check, finding, report, reportOf, SURROUNDINGS } from './sample-report.ts'

const SCHEMA = readFileSync(new URL('junit.rng', import.meta.url), 'utf8')

const write = async (value: Report) => writeJUnitReport(value, SURROUNDINGS)

/** The errors that the parser and the schema find in any of the texts. */
async function errorsOf(texts: readonly string[]): Promise<string[]> {
  const xml = texts.map((contents, index) => ({ fileName: `${index}.xml`, contents }))
  const { valid, errors } = await validateXML({ xml, schema: SCHEMA, extension: 'relaxng', maxMemoryPages: 4096 })
  return valid ? [] : errors.map(({ rawMessage }) => rawMessage)
}

describe('the JUnit report', () => {
  it('has a test case for each check, also for those that are right or were left out', async () => {
    const text = await write(report())
    expect(await errorsOf([text])).toEqual([])
    expect(text).toContain(
      '<testsuites name="dmarc-understudy run: npm test" tests="3" failures="1" errors="0" time="3.250">',
    )
    expect(text).toContain(
      '<testsuite name="operations" tests="3" failures="1" errors="0" skipped="1" time="0.000" timestamp="2026-01-15T09:00:00">',
    )
    expect(text).toContain('<property name="Coverage" value="64 % of the responses"/>')
    expect(text).toContain('<testcase name="listDomains" classname="dmarc-understudy.run.operations" time="0.000"/>')
    expect(text).toContain('<skipped>It was never called.</skipped>')
    expect(text).toContain(
      '<failure message="The body has the field &quot;domain&quot;, which the contract does not know." type="violation/unknown_field">',
    )
    expect(text).toContain('Contract: openapi.yaml:7 (/paths/~1domains/post)')
  })

  it('shows a finding that belongs to no check: an error as a failure, anything milder as a note', async () => {
    const findings = [finding(), finding({ level: 'warning', message: 'Mild.' }), finding({ level: 'note' })]
    const text = await write(report({ findings, checks: [] }))
    expect(await errorsOf([text])).toEqual([])
    expect(text).toContain('<testsuite name="findings" tests="3" failures="1"')
    expect(text.match(/<system-out>/g)).toHaveLength(2)
  })

  it('fails when the report has failed, even if no check and no finding did', async () => {
    const text = await write(report({ findings: [], checks: [check()], passed: false, summary: 'No request came.' }))
    expect(await errorsOf([text])).toEqual([])
    expect(text).toContain('<failure message="No request came." type="failed">No request came.</failure>')
  })

  it('of a report without anything in it is valid', async () => {
    const text = await write(report({ findings: [], checks: [], facts: [], startedAt: undefined }))
    expect(await errorsOf([text])).toEqual([])
  })

  it('has one failure for a check with several findings, with the text of all', async () => {
    const findings = [finding({ message: 'One.' }), finding({ message: 'Two.' })]
    const text = await write(report({ findings, checks: [check({ outcome: 'failed', findings })] }))
    expect(text.match(/<failure /g)).toHaveLength(1)
    expect(text).toMatch(/One\.[\s\S]*----[\s\S]*Two\./)
  })

  it('is valid and has no other elements, whatever a client has sent', async () => {
    const any = fc.string({ unit: 'binary', minLength: 1 })
    const odd = fc.sample(any, budget({ quick: 10, whole: 100, full: 1000 }))
    const texts = await Promise.all([...sample(HOSTILE, 5), ...odd].map((text) => write(reportOf(text))))
    expect(await errorsOf(texts)).toEqual([])
    for (const text of texts) expect(text.match(/<testcase /g)).toHaveLength(5)
  })

  it('shows the characters that XML forbids, and keeps all others', async () => {
    const text = await write(reportOf('a\u0000\u001b\ud800\uffff\t\r\nb😀<&>"\''))
    expect(text).toContain('a\\u0000\\u001b\\ud800\\uffff&#9;&#13;&#10;b😀&lt;&amp;&gt;&quot;&apos;')
  })
})
