import { describe, expect, it } from 'vitest'
import { assess } from '../../src/verify/checks.ts'
import { ConnectionError } from '../../src/verify/client.ts'
import { describeVerify } from '../../src/verify/report.ts'
import { choices } from '../support/choices.ts'
import { startService } from '../support/service.ts'
import { NO_JUDGE, NO_LEDGER, prepareRun, type Way } from './runs.ts'

/** What the report of a run says about questions that were not asked, and whether waiting would help. */
async function unaskedOf(given: { way?: Way; signal?: AbortSignal }) {
  const service = await startService({ fixture: 'demo' })
  const result = await prepareRun(service, { judge: NO_JUDGE, ledger: NO_LEDGER, ...given }).result()
  const minReached = 0
  const assessment = assess({ result, choices, target: '', isAccepted: () => false, minReached, isSoleWriter: false })
  const { findings } = describeVerify({
    ...{ target: '', result, assessment, minReached, seconds: 1, startedAt: undefined },
    ...{ sweep: undefined, exitCode: undefined },
  })
  return findings
    .filter(({ rule: { id } }) => id === 'verify/not-reached')
    .map(({ message, level }) => ({
      why: /because (.*):/.exec(message)?.[1],
      level,
      waits: message.includes('--wait'),
    }))
}

describe('the report of verify', () => {
  it('says of each reason for which questions were not asked how they can be asked', async () => {
    expect(await unaskedOf({})).toEqual(
      expect.arrayContaining([
        { why: 'the quotas of this window are used up', level: 'note', waits: true },
        { why: expect.stringContaining('the account has'), level: 'note', waits: false },
      ]),
    )
  })

  it.each<[what: string, why: RegExp, run: () => Parameters<typeof unaskedOf>[0]]>([
    ['a signal', /^the run was interrupted$/, () => ({ signal: AbortSignal.abort() })],
    [
      'a lost connection',
      /^the connection was lost: /,
      () => ({
        way: (
          (sent = 0): Way =>
          (request, send) => {
            if (++sent > 20) throw new ConnectionError('nothing listens there')
            return send(request)
          }
        )(),
      }),
    ],
  ])('lets nobody wait for a quota after %s', async (_, why, run) => {
    expect(await unaskedOf(run())).toEqual([{ why: expect.stringMatching(why), level: 'warning', waits: false }])
  })
})
