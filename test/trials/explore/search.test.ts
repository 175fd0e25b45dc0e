import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import { type Exploration, isComplete, openIn } from '../../../src/trials/explore/exploration.ts'
import { FaultSearch } from '../../../src/trials/explore/search.ts'
import type { Received } from '../../support/request.ts'
import type { TestService } from '../../support/service.ts'
import { carryOut, openSession } from '../client-in-process.ts'

type Send = (method: string, path: string, body?: unknown) => Promise<Received | undefined>
/** A client in this process. It resolves to its exit code. */
type Client = (send: Send) => Promise<number>

/** Sends a request. A lost connection is no answer. */
const sendTo =
  (service: TestService): Send =>
  (...request) =>
    service.send(...request).catch(() => undefined)

const succeeded = (answer: Received | undefined) => answer?.body?.success === true

/** Explores a client. `runs`: how many the budget allows beside those without faults. */
async function explore(client: Client, runs: number, jobs = 2): Promise<Exploration> {
  const session = await openSession(
    (service) => client(sendTo(service)),
    { fixture: 'empty' },
    { runs: runs + 2, jobs },
  )
  const runWith = session.runWith.bind(session)
  // A response that does not come is a lost connection for the client, so nobody waits.
  session.runWith = (plan, how) =>
    runWith(
      plan.map((rule) => (rule.connection === 'hang' ? { ...rule, connection: 'reset' } : rule)),
      how,
    )
  const faultless = await session.establish()
  return typeof faultless === 'string' ? expect.fail(faultless) : new FaultSearch(session, faultless).search()
}

const NAMES = ['a.example', 'b.example']

/** Adds two domains and a group, removes a domain, and believes each answer that `believes` believes. */
function work(believes: (answer: Received | undefined) => boolean): Client {
  return async (send) => {
    for (const name of NAMES) {
      if (!believes(await send('POST', '/domains', { domains: [name] }))) return 1
    }
    if (!believes(await send('POST', '/domaingroups', { name: 'Retail' }))) return 1
    return believes(await send('DELETE', '/domains', { domains: [NAMES[0]] })) ? 0 : 1
  }
}

const strict = work(succeeded)
const credulous = work(() => true)
const told = ({ findings }: Exploration) => findings.map(({ id }) => id).toSorted()

describe('A session', () => {
  it('knows whether a client changes the same each time without faults', async () => {
    let runs = 0
    const stableOf = async (name: () => string) => {
      const session = await openSession((service) => service.send('POST', '/domains', { domains: [name()] }), {
        fixture: 'empty',
      })
      const faultless = await session.establish()
      return typeof faultless !== 'string' && [faultless.isStable, faultless.changes]
    }
    expect(await stableOf(() => 'a.example')).toEqual([true, true])
    expect(await stableOf(() => `run${runs++}.example`)).toEqual([false, true])
  })
})

describe('An exploration', () => {
  it('is complete if each kind of write met each fault of the first two tiers, whatever runs at the same time', async () => {
    // Thirteen plans, one repetition, and the other client first for each of four plans that the command survives.
    const [one, other] = await Promise.all([1, 3].map((jobs) => explore(strict, 18, jobs)))
    expect(one?.tiers.slice(0, 2)).toEqual([
      { tier: 1, of: 4, tried: 4 },
      { tier: 2, of: 9, tried: 9 },
    ])
    expect(one && [isComplete(one), openIn(one.tiers)]).toEqual([true, 0])
    // When the last response is lost, all is done.
    expect(one && told(one)).toEqual(['false-failure/lost-response/deleteDomains'])
    expect(other && told(other)).toEqual(one && told(one))
    expect(other?.tiers.slice(0, 2)).toEqual(one?.tiers.slice(0, 2))
  })

  it('of a client that only reads is complete if each fault was tried', async () => {
    const reads: Client = async (send) => (succeeded(await send('GET', '/domains')) ? 0 : 1)
    expect(isComplete(await explore(reads, 2))).toBe(false)
    const all = await explore(reads, 100)
    expect([isComplete(all), openIn(all.tiers), all.elusive]).toEqual([true, 0, 0])
  })

  it.each([0, 7])('is not complete after %i runs, and says how much is left', async (runs) => {
    const found = await explore(strict, runs)
    expect([isComplete(found), openIn(found.tiers) > 0, found.left > 0]).toEqual([false, true, true])
  })

  it('is not complete if no fault meets a request, and no larger budget would help', async () => {
    let runs = 0
    // The second request comes only in the runs without faults.
    const changing: Client = async (send) => {
      const count = runs++ < 2 ? 2 : 1
      for (let sent = 0; sent < count; sent++) await send('POST', '/domains', { domains: [`run${sent}.example`] })
      return 0
    }
    const found = await explore(changing, 8)
    expect([isComplete(found), openIn(found.tiers), found.elusive]).toEqual([false, 3, 3])
  })

  it('reports nothing that broke the command only once', async () => {
    let hasBroken = false
    const once: Client = async (send) => {
      const code = await strict(send)
      const hidesIt = code !== 0 && !hasBroken
      hasBroken ||= hidesIt
      return hidesIt ? 0 : code
    }
    const found = await explore(once, 20, 1)
    expect(found.flaky.map(({ verdict }) => verdict)).toEqual(['wrong success'])
    expect(told(found).filter((id) => id.startsWith('wrong-success'))).toEqual([])
  })

  it('does not pass over what broke the command and could not be repeated', async () => {
    const found = await explore(credulous, 8)
    expect([found.findings, found.unconfirmed.length > 0, isComplete(found)]).toEqual([[], true, false])
  })

  it('makes one finding of a weakness at several requests, with its places', async () => {
    const { findings } = await explore(credulous, 20)
    const refusal = findings.find(({ id }) => id.startsWith('wrong-success/refusal/'))
    expect(refusal?.id).toBe('wrong-success/refusal/addDomains+createDomainGroup+deleteDomains')
    expect(refusal?.places.map(({ operation, about }) => [operation, about])).toEqual([
      ['addDomains', 'a.example'],
      ['addDomains', 'b.example'],
      ['createDomainGroup', 'Retail'],
      ['deleteDomains', 'a.example'],
    ])
    expect(refusal?.places[0]?.faults).toContain('the answer is invalid_domain')
  })

  it.each<[wait: number, findings: string[]]>([
    [2_000, ['storm/quota']],
    [60_000, []],
  ])('tries a 429 again in a longer window, for a client that waits %i ms by the clock: %j', async (wait, findings) => {
    const contractWith = (longestWindow: number) => loadContract({ longestWindow })
    const session = await openSession(
      async (service) => {
        if ((await service.get('/domains')).status === 200) return 0
        await service.advance(wait)
        return (await service.get('/domains')).status === 200 ? 0 : 1
      },
      { fixture: 'empty' },
      { window: 2, runs: 5, contract: await contractWith(2), contractWith },
    )
    const faultless = await session.establish()
    if (typeof faultless === 'string') expect.fail(faultless)
    expect(told(await new FaultSearch(session, faultless).search())).toEqual(findings)
  })

  it('gives a run more time than the user says only in a longer window, because it has chosen that itself', async () => {
    const contractWith = (longestWindow: number) => loadContract({ longestWindow })
    const limits: unknown[] = []
    const patient = carryOut(async (service) => {
      if ((await service.get('/domains')).status === 429) await service.advance(60_000)
    })
    const session = await openSession(
      async () => {},
      { fixture: 'empty' },
      {
        ...{ window: 2, runs: 5, timeout: 1_000, contract: await contractWith(2), contractWith },
        async carryOut(run) {
          limits.push(run.timeout)
          return patient(run)
        },
      },
    )
    const faultless = await session.establish()
    if (typeof faultless === 'string') expect.fail(faultless)
    await new FaultSearch(session, faultless).search()
    expect(limits).toEqual([1_000, 1_000, 1_000, expect.any(Number), 1_000])
    expect(limits[3]).toBeGreaterThan(6_000)
  })

  it.each([
    ['ignores a domain that is in use', 'domain_delete_failed', 'deleteDomains'],
    ['takes a name that is taken for its own group', 'duplicate_name', 'createDomainGroup'],
    ['takes a refused batch for domains that are there', 'invalid_domain', 'addDomains'],
  ])('finds in the first two tiers that a client %s', async (_, code, operation) => {
    const found = await explore(
      work((answer) => succeeded(answer) || answer?.body?.error?.code === code),
      16,
    )
    const finding = found.findings.find(({ id }) => id === `wrong-success/refusal/${operation}`)
    expect(finding?.places.flatMap(({ faults }) => faults)).toContain(`the answer is ${code}`)
  })
})
