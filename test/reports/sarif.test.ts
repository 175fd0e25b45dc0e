import { expect, it } from 'vitest'
import { ADD_DOMAINS, finding, report } from './sample-report.ts'
import { write } from './structure.ts'

const runOf = async (...given: Parameters<typeof report>) => {
  const { version, runs } = JSON.parse(await write('sarif', report(...given)))
  expect([version, runs.length]).toEqual(['2.1.0', 1])
  return runs[0]
}

it('the SARIF report has a result for each finding with a place, and a notification for one without', async () => {
  const failed = { id: 'command/failed', name: 'The command failed', description: 'It ended with another exit code.' }
  const unplaced = finding({ rule: failed, message: 'It failed with 3.', pointer: undefined, request: undefined })
  const { results, tool, invocations } = await runOf({ findings: [unplaced, finding()] })
  expect(results).toMatchObject([
    {
      ...{ ruleId: 'violation/unknown_field', ruleIndex: 1, level: 'error' },
      message: { text: expect.stringContaining('Send the list of domains as "domains".\n  curl -X POST') },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: 'openapi.yaml' }, region: { startLine: 7 } },
          logicalLocations: [{ fullyQualifiedName: ADD_DOMAINS }],
        },
      ],
    },
  ])
  expect(tool.driver).toMatchObject({ name: 'dmarc-understudy', version: '1.2.3', rules: [{ id: failed.id }, {}] })
  expect(invocations).toMatchObject([{ executionSuccessful: true, exitCode: 1 }])
  expect(invocations[0].toolExecutionNotifications[1]).toMatchObject({ associatedRule: { id: failed.id, index: 0 } })
})

it('the SARIF report without findings has an empty list, which closes the alerts of before', async () => {
  expect((await runOf({ findings: [] })).results).toEqual([])
})
