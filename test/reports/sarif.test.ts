import published from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' }
import { Ajv } from 'ajv'
import type { Log } from 'sarif'
import { describe, expect, it } from 'vitest'
import type { Report } from '../../src/reports/report.ts'
import { writeSarifReport } from '../../src/reports/sarif.ts'
import { HOSTILE } from './hostile-texts.ts'
import { ADD_DOMAINS, finding, report, SURROUNDINGS } from './sample-report.ts'

// The schema that the standard publishes is of draft 4, of which draft 7 understands everything but the name of `id`.
const { $schema: _, id: __, ...SCHEMA } = published
const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false, allErrors: true }).compile(
  SCHEMA,
)

async function write(value: Report): Promise<Log['runs'][number]> {
  const log = JSON.parse(await writeSarifReport(value, SURROUNDINGS)) as Log
  validate(log)
  expect(validate.errors).toBeNull()
  expect(log).toMatchObject({ version: '2.1.0', $schema: expect.stringContaining('sarif-2.1.0') })
  expect(log.runs).toHaveLength(1)
  return log.runs[0] as Log['runs'][number]
}

describe('the SARIF report', () => {
  it('has a result for each finding, at its line of openapi.yaml', async () => {
    const run = await write(report())
    expect(run.results).toHaveLength(1)
    expect(run.results?.[0]).toMatchObject({
      ruleId: 'violation/unknown_field',
      ruleIndex: 0,
      level: 'error',
      message: { text: expect.stringContaining('Send the list of domains as "domains".\n  curl -X POST') },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'openapi.yaml', uriBaseId: '%SRCROOT%', index: 0 },
            region: { startLine: 7 },
          },
          logicalLocations: [{ fullyQualifiedName: ADD_DOMAINS }],
        },
      ],
    })
    expect(run.tool.driver).toMatchObject({ name: 'dmarc-understudy', version: '1.2.3' })
    expect(run.invocations).toEqual([
      {
        executionSuccessful: true,
        exitCode: 1,
        startTimeUtc: '2026-01-15T09:00:00.000Z',
        endTimeUtc: '2026-01-15T09:00:03.250Z',
        toolExecutionNotifications: [{ level: 'error', message: { text: '1 request violates the contract, of 12.' } }],
      },
    ])
  })

  it('has each rule once, with its help', async () => {
    const other = { id: 'idle', name: 'No request', description: 'Nothing was checked.' }
    const run = await write(report({ findings: [finding(), finding(), finding({ rule: other, level: 'warning' })] }))
    expect(run.tool.driver.rules).toEqual([
      expect.objectContaining({ id: 'violation/unknown_field', defaultConfiguration: { level: 'error' } }),
      expect.objectContaining({ id: 'idle', help: { text: 'Nothing was checked.' } }),
    ])
    expect(run.results?.map(({ ruleIndex }) => ruleIndex)).toEqual([0, 0, 1])
  })

  it('has a finding without a place as a notification, because code scanning refuses such a result', async () => {
    const failed = { id: 'command/failed', name: 'The command failed', description: 'It ended with another exit code.' }
    const unplaced = finding({ rule: failed, message: 'It failed with 3.', pointer: undefined, request: undefined })
    const run = await write(report({ findings: [unplaced, finding()] }))
    expect(run.results?.map(({ ruleId, ruleIndex }) => [ruleId, ruleIndex])).toEqual([['violation/unknown_field', 1]])
    expect(run.invocations?.[0]?.toolExecutionNotifications?.slice(1)).toEqual([
      {
        level: 'error',
        associatedRule: { id: 'command/failed', index: 0 },
        message: { text: expect.stringMatching(/^It failed with 3\./) },
      },
    ])
  })

  it('without findings has an empty list, which closes the alerts of before', async () => {
    const run = await write(report({ findings: [], startedAt: undefined }))
    expect(run.results).toEqual([])
  })

  it('has fingerprints that are the same in every run and different within one', async () => {
    const again = (requestId: string, path: string) =>
      finding({ message: requestId, request: { method: 'POST', path, requestId } })
    const prints = async (...findings: ReturnType<typeof finding>[]) =>
      (await write(report({ findings }))).results?.map(({ partialFingerprints }) => partialFingerprints)
    const one = await prints(again('a', '/domains?x=1'), again('b', '/domains'), again('c', '/dmarc'))
    expect(new Set(one?.map((each) => each?.['primaryLocationLineHash'])).size).toBe(3)
    expect(await prints(again('d', '/domains'), again('e', '/domains?y'), again('f', '/dmarc'))).toEqual(one)
    expect(one?.[0]).toEqual({ primaryLocationLineHash: expect.stringMatching(/^[0-9a-f]{16}:1$/) })
  })

  it.each(HOSTILE)('is valid with %j in every text', async (text) => {
    const rule = { id: text, name: text.repeat(200), description: text.repeat(500) }
    const run = await write(report({ title: text, summary: text, findings: [finding({ rule, message: text })] }))
    expect(run.results?.[0]?.ruleId).toBe(text)
    expect(run.tool.driver.rules?.[0]?.name?.length).toBeLessThanOrEqual(255)
    expect(run.tool.driver.rules?.[0]?.fullDescription?.text.length).toBeLessThanOrEqual(1024)
  })
})
