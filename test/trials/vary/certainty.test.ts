import { describe, expect, it } from 'vitest'
import { pause } from '../../../src/ground/timers.ts'
import type { VaryOptions, VaryResult } from '../../../src/trials/vary/vary.ts'
import type { TestService } from '../../support/service.ts'
import { type Client, carryOut } from '../client-in-process.ts'
import { optionsOf } from './recorded-service.ts'
import { only, reportOf, varyCommand, verdictsIn } from './varied-client.ts'

/** Finds out on which of these choices a client in this process depends. */
function varyClient(client: Client, names: readonly string[], options: Partial<VaryOptions> = {}): Promise<VaryResult> {
  const server = optionsOf()
  return varyCommand(['client'], { choices: only(...names), carryOut: carryOut(client), server, jobs: 1, ...options })
}

function claim(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise)
}

const DOMAINS = ['shop.example.com', 'mail.example.com']
const add = (service: TestService, domains = DOMAINS) => service.send('POST', '/domains', { domains })

/** Puts a domain into two groups, of which one loses it with an alternative. No response to this is different. */
async function share(service: TestService): Promise<void> {
  await add(service)
  for (const name of ['One', 'Two']) await service.send('POST', '/domaingroups', { name, domains: DOMAINS })
}

describe('vary', () => {
  it('finds a change of the account that only a later response shows', async () => {
    const result = await varyClient(
      async (service) => {
        await share(service)
        const { groups } = (await service.get('/domaingroups')).body.data
        claim(groups[0].domains.length === 2, 'The group has lost its domains.')
      },
      ['shared-domains/2'],
    )
    expect(verdictsIn(result)).toEqual({ 'shared-domains/2': 'depends' })
    expect(reportOf(result, 'shared-domains/2')?.first_difference).toMatchObject({
      request: { method: 'GET', path: '/api/v1/domaingroups' },
      expected: { status: 200 },
      body_difference: 'with 0 items instead of 2 at /data/groups/0/domains',
    })
  })

  it('does not call tolerated what would show only after the last request', async () => {
    const blind = await varyClient(share, ['shared-domains/2'])
    expect(reportOf(blind, 'shared-domains/2')).toMatchObject({
      verdict: 'not reached',
      reason: 'No response was different when the command ran with it.',
    })
  })

  it('does not call tolerated what the client has not seen because it sent other requests', async () => {
    const result = await varyClient(
      (service, trial) => service.get(trial.startsWith('baseline') ? '/domains' : '/domaingroups?id=none'),
      ['group-order/1', 'plan-names/1', 'quota-window/1'],
    )
    expect(verdictsIn(result)).toEqual({ 'quota-window/1': 'inconclusive' })
    const evasive = await varyClient(
      async (service, trial) => {
        // The list is empty then, but not because of the alternative.
        await (trial.startsWith('baseline') ? add(service) : service.get('/dmarc'))
        await service.get('/domains')
      },
      ['add-domains-status/1'],
    )
    expect(reportOf(evasive, 'add-domains-status/1')).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('The command has sent other requests than without it.'),
    })
  })

  it.each<[what: string, other: string, tries: number]>([
    ['one account come in another order each time by several runs, and says so', 'sandbox_one', 3],
    ['different accounts come in another order each time as any other', 'sandbox_two', 1],
  ])('judges a client whose requests to %s', async (_, other, tries) => {
    let runs = 0
    const result = await varyClient(
      async (service) => {
        const calls = [
          ['/domains', 'sandbox_one'],
          ['/dmarc', other],
        ] as const
        for (const [path, key] of runs++ % 2 === 0 ? calls : calls.toReversed())
          await service.send('GET', path, undefined, { authorization: `Bearer ${key}` })
      },
      ['request-id-format/1'],
    )
    const note = expect.stringMatching(/^The command sends its requests to an account in another order/)
    expect(result.notes).toEqual(tries === 1 ? [] : [note])
    expect(verdictsIn(result)).toEqual({ 'request-id-format/1': 'tolerates' })
    expect(result.dependencies).toMatchObject({ runs: 2 + tries, baseline: { steady: true } })
  })

  it.each([0, 1])('says nothing of a client of whose runs as it is only that at %i passes', async (passing) => {
    let runs = 0
    const flaky = varyClient(
      async (service) => {
        await service.get('/domains')
        claim(runs++ === passing, 'It works only once.')
      },
      ['request-id-format/1'],
    )
    await expect(flaky).rejects.toThrow(/passed once and failed once, although nothing is varied: .*It works only once/)
    expect(runs).toBe(2)
  })

  it('blames no alternative for a client that fails because of what its earlier runs have left', async () => {
    let runs = 0
    const result = await varyClient(
      async (service) => {
        await service.get('/domains')
        claim(++runs < 4, 'The disk is full.')
      },
      ['request-id-format/1', 'quota-window/1'],
    )
    // The one that is tried first still passes, whichever it is.
    const verdicts = verdictsIn(result)
    expect(Object.values(verdicts).toSorted()).toEqual(['inconclusive', 'tolerates'])
    const [last = ''] = Object.keys(verdicts).filter((name) => verdicts[name] === 'inconclusive')
    expect(reportOf(result, last)?.reason).toMatch(/by now also without an alternative: .*The disk is full\.$/)
    // Nothing is known then, so it is no success.
    expect(result.cutBy).toBe(reportOf(result, last)?.reason)
  })

  it('never repeats a failure beside other trials, which may be its reason', async () => {
    let running = 0
    const lonely: Client = async (service) => {
      running++
      try {
        await service.get('/domains')
        claim(running === 1, 'The port is taken.')
        await service.get('/domains')
      } finally {
        running--
      }
    }
    const names = ['request-id-format/1', 'quota-window/1', 'rate-limit-reset/1']
    const found = await varyClient(lonely, names, { jobs: 3 })
    expect(Object.values(verdictsIn(found))).not.toContain('depends')
  })

  it('judges a client that sends other requests each time by several runs, and says so', async () => {
    let runs = 0
    const result = await varyClient((service) => add(service, [`host-${runs++}.example`]), ['add-domains-status/1'])
    expect(result.notes).toEqual([expect.stringMatching(/^The command is unsteady: only one of two runs sent POST/)])
    expect(verdictsIn(result)).toEqual({ 'add-domains-status/1': 'tolerates' })
    expect(result.dependencies).toMatchObject({ runs: 5, baseline: { steady: false } })
  })

  it.each<[what: string, options: (stop: AbortSignal) => Partial<VaryOptions>, reason: string]>([
    ['a signal comes', (signal) => ({ signal }), 'vary was stopped by SIGTERM.'],
    ['its time is over', () => ({ maxTime: 1_500 }), 'The time of --max-time was over.'],
  ])('keeps what it has decided if %s, and gives the reason for the rest', async (_, optionsFor, reason) => {
    const stop = new AbortController()
    const options = optionsFor(stop.signal)
    const result = await varyClient(
      async (service, trial) => {
        await service.get('/domains')
        if (trial !== 'quota-window/1') return
        if (options.signal === undefined) await pause(1_600)
        else stop.abort(new Error('stopped by SIGTERM'))
      },
      ['quota-window/1', 'request-id-format/1', 'rate-limit-reset/1'],
      options,
    )
    expect(verdictsIn(result)).toEqual({
      'request-id-format/1': 'tolerates',
      'quota-window/1': 'inconclusive',
      'rate-limit-reset/1': 'inconclusive',
    })
    expect(result.cutBy).toBe(reason)
    expect(reportOf(result, 'rate-limit-reset/1')?.reason).toBe(reason)
    expect(result.dependencies.runs).toBe(4)
  })
})
