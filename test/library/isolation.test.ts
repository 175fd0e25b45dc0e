import { describe, expect, it } from 'vitest'
import type { Account, Understudy } from '../../src/index.ts'
import { budget } from '../support/budget.ts'
import { sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { send, start } from './stand-in.ts'

const ACCOUNTS = budget({ quick: 3, whole: 8, full: 50 })
const CLIENTS_OF_EACH = 4
const HOUR = 3_600_000
/** What each client asks for, one after the other. */
const ROUNDS = 3

/** What makes an account unlike any other. */
type Character = ReturnType<typeof characterOf>

function characterOf(number: number) {
  return {
    // Every other one is opened by its key.
    id: number % 2 === 0 ? `account-of-${number}` : `sandbox_of-${number}`,
    number,
    seed: 1000 + number,
    now: Date.parse('2026-01-01T00:10:00Z') + number * (25 * HOUR + 61_000),
    plan: number % 10 === 7 ? 'below-stone' : number % 3 === 0 ? 'above-stone' : 'stone',
    /** What is left of the quota of /domains. */
    remaining: 5 + (number % 11),
    /** Domains that only this account has. */
    domains: Array.from({ length: 1 + (number % 5) }, (_, index) => `d${index}.account-${number}.example`),
    /** With which status a fault answers GET /domaingroups, if one does. */
    fault: number % 4 === 1 ? 520 + number : undefined,
  }
}

async function open(understudy: Understudy, character: Character): Promise<Account> {
  const { id, seed, plan, remaining, domains, fault } = character
  const beginning = { seed, now: new Date(character.now).toISOString(), frozen: true, fixture: { domains } }
  let account: Account
  if (id.startsWith('sandbox_')) {
    await fetch(`${understudy.baseUrl}/domains`, { headers: { authorization: `Bearer ${id}` } })
    account = await understudy.findAccount(id)
    await account.reset(beginning)
    await account.setPlan(plan)
  } else account = await understudy.createAccount({ id, plan, ...beginning })
  await account.quotas.set('domains', remaining)
  if (fault !== undefined) {
    const respond = { status: fault, body: { number: character.number } }
    await account.faults.add({ match: { operation: 'listDomainGroups' }, respond })
  }
  return account
}

/**
 * A client of an account. Every answer is lawful, at the time of the account, and names no other account; what is injected
 * is what the account's own fault injects.
 */
async function runClient({ contract }: Understudy, account: Account, character: Character, client: number) {
  const { now, fault, number, domains } = character
  async function ask(method: string, path: string, body?: object): Promise<void> {
    const sent = { ...account.headers, 'x-client': `${number}/${client}` }
    const received = await sendRequest(method, account.baseUrl + path, body, sent)
    const { status, headers, text } = received
    expect(headers['date']).toBe(new Date(now).toUTCString())
    if (status === fault) expect(JSON.parse(text)).toEqual({ number })
    else expectLawful(contract, method, path, received)
    for (const [, named] of text.matchAll(/account-(\d+)\.example/g)) expect(Number(named)).toBe(number)
  }
  for (let round = 0; round < ROUNDS; round++) {
    await ask('GET', '/domains')
    await ask('POST', '/domaingroups', { name: `group ${client}.${round}`, domains })
    await ask('GET', '/domaingroups')
    await ask('GET', '/dmarc')
  }
}

/** Accounts that come and go meanwhile, with everything that may happen to one. */
async function disturb(understudy: Understudy, number: number): Promise<void> {
  const account = await understudy.createAccount({ fixture: 'demo', seed: 1000, frozen: false })
  await account.clock.advance({ days: number })
  await account.faults.addSet('quota-storm')
  await account.snapshots.take('here')
  await fetch(`${account.baseUrl}/dmarc`, { headers: account.headers })
  await account.quotas.set('dmarc', 0)
  await account.reset({ seed: 1000 + number })
  await account.snapshots.restore('here')
  await account.delete()
}

/** What an account has to tell of its clients, whichever of their requests came first. */
async function recordOf(account: Account, character: Character) {
  const journal = await account.requests.list()
  for (const { request } of journal) {
    expect(request.headers['x-client']).toMatch(new RegExp(`^${character.number}/[0-3]$`))
  }
  const { operations } = await account.coverage()
  const groups = await account.groups.list()
  return {
    requests: journal
      .map(({ account, at, operation, status, code, injected }) =>
        [account, at, operation, status, code, injected].join(' '),
      )
      .toSorted(),
    quotas: journal.map(({ path, quota }) => `${path} ${quota?.remaining} ${quota?.resets_at}`).toSorted(),
    ids: journal.map(({ request_id }) => request_id).toSorted(),
    read: new Set(
      journal.flatMap(({ operation, response: { body } }) =>
        /^list(Dmarc|Domains)$/.test(`${operation}`) ? body : [],
      ),
    ),
    counted: operations.map(({ operation, responses }) => [
      operation,
      ...responses.map(({ status, code, genuine, injected }) => `${status} ${code}: ${genuine}, ${injected}`),
    ]),
    faults: (await account.faults.list()).map(({ id, matched, hits }) => [id, matched, hits]),
    groups: { ids: groups.map(({ id }) => id).toSorted(), names: groups.map(({ name }) => name).toSorted() },
    members: new Set(groups.map(({ domains }) => domains.join())),
  }
}

describe(`${ACCOUNTS * CLIENTS_OF_EACH} clients of ${ACCOUNTS} accounts at once`, () => {
  it('see nothing but what their own account gives, and nothing else is seen of them', {
    timeout: 60_000,
  }, async () => {
    const characters = Array.from({ length: ACCOUNTS }, (_, number) => characterOf(number))
    const clients = Array.from({ length: CLIENTS_OF_EACH }, (_, client) => client)
    const understudy = await start({ seed: 5, frozen: false })
    const accounts = await Promise.all(
      characters.map(async (character) => ({ character, account: await open(understudy, character) })),
    )
    await Promise.all([
      ...accounts.flatMap(({ account, character }) =>
        clients.map((client) => runClient(understudy, account, character, client)),
      ),
      ...Array.from({ length: 20 }, (_, number) => disturb(understudy, number)),
    ])

    // The same accounts, one after the other, where nothing else happens.
    const alone = await start({ seed: 5, frozen: false })
    const everyId = new Set<string>()
    for (const { account, character } of accounts) {
      const twin = await open(alone, character)
      for (const client of clients) await runClient(alone, twin, character, client)
      const record = await recordOf(account, character)
      expect(record.requests).toHaveLength(CLIENTS_OF_EACH * ROUNDS * 4)
      expect(record).toEqual(await recordOf(twin, character))
      for (const id of record.ids) everyId.add(id)
    }
    expect(everyId.size).toBe(ACCOUNTS * CLIENTS_OF_EACH * ROUNDS * 4)
    const left = (await understudy.listAccounts()).map(({ id }) => id)
    expect(left.toSorted()).toEqual(['default', ...characters.map(({ id }) => id)].toSorted())
    expect(await understudy.account.requests.list()).toEqual([])
  })

  it('cannot use the group ids of another account of the same fixture and seed', async () => {
    const understudy = await start({ fixture: 'demo' })
    const [one, other] = await Promise.all([understudy.createAccount(), understudy.createAccount()])
    const { groups = [] } = await one.export()
    expect(groups.length).toBeGreaterThan(1)
    const own = new Set(((await other.export()).groups ?? []).map(({ id }) => id))
    for (const { id = '' } of groups) {
      expect(own).not.toContain(id)
      for (const [method, body] of [['GET'], ['PATCH', { name: 'mine' }], ['DELETE']] as const) {
        const received = await send(understudy, other, method, `/domaingroups?id=${id}`, body)
        expect([received.status, received.text]).toEqual([404, expect.stringContaining('"not_found"')])
      }
    }
  })
})
