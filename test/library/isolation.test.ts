import { describe, expect, it } from 'vitest'
import { requestIdOf } from '../../src/http/request-id.ts'
import type { Account, Understudy } from '../../src/index.ts'
import { budget } from '../support/budget.ts'
import { sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { send, start } from './stand-in.ts'

const ACCOUNTS = budget({ quick: 8, full: 50 })
const CLIENTS_OF_EACH = 4
const HOUR = 3_600_000
/** What each client asks for, one after the other. */
const ROUNDS = 3

/** What makes an account unlike any other. */
interface Character {
  id: string
  number: number
  seed: number
  now: number
  plan: string
  /** What is left of the quota of /domains. */
  remaining: number
  /** Domains that only this account has. */
  domains: string[]
  /** With which status a fault answers GET /domaingroups, if one does. */
  fault: number | undefined
}

function characterOf(number: number): Character {
  return {
    // Every other one is opened by its key.
    id: number % 2 === 0 ? `account-of-${number}` : `sandbox_of-${number}`,
    number,
    seed: 1000 + number,
    now: Date.parse('2026-01-01T00:10:00Z') + number * (25 * HOUR + 61_000),
    plan: number % 10 === 7 ? 'below-stone' : number % 3 === 0 ? 'above-stone' : 'stone',
    remaining: 5 + (number % 11),
    domains: Array.from({ length: 1 + (number % 5) }, (_, index) => `d${index}.account-${number}.example`),
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
    await account.faults.add({
      match: { operation: 'listDomainGroups' },
      respond: { status: fault, body: { number: character.number } },
    })
  }
  return account
}

/** What a client saw of one answer. */
interface Seen {
  request: string
  status: number
  requestId: string
  remaining: number | undefined
  text: string
}

/** A client that holds each answer to what its account alone can give. */
async function runClient(
  understudy: Understudy,
  account: Account,
  character: Character,
  client: number,
): Promise<Seen[]> {
  const { now, plan, fault, number, remaining, domains } = character
  const seen: Seen[] = []
  async function ask(method: string, path: string, body?: object) {
    const sent = { ...account.headers, 'x-client': `${number}/${client}` }
    const received = await sendRequest(method, account.baseUrl + path, body, sent)
    const { status, headers, text } = received
    expect(headers['date']).toBe(new Date(now).toUTCString())
    if (fault === undefined || status !== fault) expectLawful(understudy.contract, method, path, received)
    const reset = headers['x-ratelimit-reset']
    if (reset !== undefined) expect(Number(reset) * 1000).toBe((Math.floor(now / HOUR) + 1) * HOUR)
    const left = headers['x-ratelimit-remaining']
    const answer = {
      request: `${method} ${path}`,
      status,
      requestId: headers['x-request-id'] ?? '',
      remaining: left === undefined ? undefined : Number(left),
      text,
    }
    seen.push(answer)
    return answer
  }

  for (let round = 0; round < ROUNDS; round++) {
    const listed = await ask('GET', '/domains')
    const created = await ask('POST', '/domaingroups', { name: `group ${client}.${round}`, domains })
    const groups = await ask('GET', '/domaingroups')
    const records = await ask('GET', '/dmarc')
    if (plan === 'below-stone') {
      for (const { status, text } of [listed, created, groups, records]) {
        expect(status).toBe(403)
        expect(text).toContain('"unauthorized"')
      }
      continue
    }
    expect([200, 429]).toContain(listed.status)
    if (listed.status === 200) {
      expect(JSON.parse(listed.text).data).toEqual({ domains })
      expect(listed.remaining).toBeLessThan(remaining)
    }
    expect(JSON.parse(created.text).data.group).toMatchObject({ name: `group ${client}.${round}`, domains })
    expect(groups.status).toBe(fault ?? 200)
    if (fault !== undefined) expect(JSON.parse(groups.text)).toEqual({ number })
    else {
      const listed = JSON.parse(groups.text).data.groups as { name: string; domains: string[] }[]
      // Groups are called the same in every account; their members tell whose they are.
      expect(listed.map((group) => group.domains)).toEqual(listed.map(() => domains))
      expect(listed.map(({ name }) => name)).toContain(`group ${client}.${round}`)
    }
    // The quota of /dmarc has ten requests, and the clients of an account send twelve.
    expect([200, 429]).toContain(records.status)
  }
  return seen
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

/** Each hit on the quota of /domains was counted once, and by nobody else. */
function expectOwnQuota(character: Character, seen: readonly Seen[]): void {
  const left = seen.flatMap(({ request, status, remaining }) =>
    request === 'GET /domains' && status === 200 ? [remaining] : [],
  )
  const enough = Math.min(character.remaining, CLIENTS_OF_EACH * ROUNDS)
  const expected = Array.from({ length: enough }, (_, hit) => character.remaining - 1 - hit)
  expect(left.toSorted((one, other) => Number(other) - Number(one))).toEqual(expected)
}

/** The figures and the ids of groups are those of a twin that is alone in its world. */
async function expectWhatItGivesAlone(twin: Account, seen: readonly Seen[]): Promise<void> {
  const bytesOf = async (each: Account) => (await fetch(`${each.baseUrl}/dmarc`, { headers: each.headers })).text()
  const expected = await bytesOf(twin)
  const texts = seen.filter(({ request, status }) => request === 'GET /dmarc' && status === 200)
  expect(texts.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, () => expected))
  const groupIds = seen.flatMap(({ request, text }) =>
    request === 'POST /domaingroups' ? [JSON.parse(text).data.group.id as string] : [],
  )
  const ownGroups: string[] = []
  for (const name of groupIds) {
    const response = await fetch(`${twin.baseUrl}/domaingroups`, {
      method: 'POST',
      headers: { ...twin.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    ownGroups.push(((await response.json()) as { data: { group: { id: string } } }).data.group.id)
  }
  expect(groupIds.toSorted()).toEqual(ownGroups.toSorted())
}

/** Journal, coverage and faults tell of the account's own clients and of all of them. */
async function expectOwnRecord(account: Account, character: Character, ids: readonly string[]): Promise<void> {
  const journal = await account.requests.list()
  expect(journal.map(({ request_id }) => request_id).toSorted()).toEqual(ids.toSorted())
  for (const entry of journal) {
    expect(entry.account).toBe(character.id)
    expect(Date.parse(entry.at)).toBe(character.now)
    expect(entry.request.headers['x-client']).toMatch(new RegExp(`^${character.number}/[0-3]$`))
    const faulty = character.fault !== undefined && character.plan !== 'below-stone'
    expect(entry.injected).toBe(faulty && entry.operation === 'listDomainGroups')
  }

  const { operations } = await account.coverage()
  for (const { operation, responses } of operations) {
    const counted = responses.reduce((sum, { genuine, injected }) => sum + genuine + injected, 0)
    const sent = journal.filter((entry) => entry.operation === operation)
    expect(counted, `${character.id} ${operation}`).toBe(sent.length)
  }
  const struck = journal.filter(({ injected }) => injected).length
  expect((await account.faults.list()).map(({ hits }) => hits)).toEqual(character.fault === undefined ? [] : [struck])
}

describe(`${ACCOUNTS * CLIENTS_OF_EACH} clients of ${ACCOUNTS} accounts at once`, () => {
  it('see nothing but what their own account gives, and nothing else is seen of them', {
    timeout: 60_000,
  }, async () => {
    const characters = Array.from({ length: ACCOUNTS }, (_, number) => characterOf(number))
    const understudy = await start({ seed: 5, frozen: false })
    const accounts = await Promise.all(characters.map((character) => open(understudy, character)))
    const answers = characters.map((): Seen[] => [])
    await Promise.all([
      ...characters.flatMap((character, index) =>
        Array.from({ length: CLIENTS_OF_EACH }, async (_, client) => {
          const account = accounts[index]
          if (account !== undefined) answers[index]?.push(...(await runClient(understudy, account, character, client)))
        }),
      ),
      ...Array.from({ length: 20 }, (_, number) => disturb(understudy, number)),
    ])

    // The same accounts, one after the other, where nothing else happens.
    const alone = await start({ seed: 5, frozen: false })
    const everyId = new Set<string>()
    for (const [index, character] of characters.entries()) {
      const seen = answers[index] ?? []
      const account = accounts[index]
      if (account === undefined) throw new Error('Every character has an account.')
      expect(seen).toHaveLength(CLIENTS_OF_EACH * ROUNDS * 4)

      const ids = seen.map(({ requestId }) => requestId)
      const ownIds = seen.map((_, ordinal) =>
        requestIdOf(`${character.seed} ${character.id}`, ordinal + 1, understudy.contract.requestIds),
      )
      expect(ids.toSorted()).toEqual(ownIds.toSorted())
      for (const id of ids) everyId.add(id)

      if (character.plan !== 'below-stone') {
        expectOwnQuota(character, seen)
        await expectWhatItGivesAlone(await open(alone, character), seen)
      }
      await expectOwnRecord(account, character, ids)
    }
    expect(everyId.size).toBe(ACCOUNTS * CLIENTS_OF_EACH * ROUNDS * 4)
    const left = (await understudy.listAccounts()).map(({ id }) => id)
    expect(left.toSorted()).toEqual(['default', ...characters.map(({ id }) => id)].toSorted())
    expect(await understudy.account.requests.list()).toEqual([])
  })

  it('open sandboxes of their own by their keys alone', async () => {
    const understudy = await start({ fixture: { domains: ['shared.example'] } })
    const listed = await Promise.all(
      Array.from({ length: ACCOUNTS * CLIENTS_OF_EACH }, async (_, client) => {
        const headers = { authorization: `Bearer sandbox_${client % ACCOUNTS}`, 'content-type': 'application/json' }
        const body = JSON.stringify({ domains: [`c${client}.example`] })
        const response = await fetch(`${understudy.baseUrl}/domains`, { method: 'POST', headers, body })
        expect(response.status).toBe(200)
        return `sandbox_${client % ACCOUNTS}`
      }),
    )
    const accounts = await understudy.listAccounts()
    expect(accounts.map(({ id }) => id).toSorted()).toEqual(['default', ...new Set(listed)].toSorted())
    for (let number = 0; number < ACCOUNTS; number++) {
      const account = await understudy.findAccount(`sandbox_${number}`)
      const { domains = [] } = await account.export()
      const own = Array.from({ length: CLIENTS_OF_EACH }, (_, turn) => `c${number + turn * ACCOUNTS}.example`)
      const names = domains.map((domain) => (typeof domain === 'string' ? domain : domain.name))
      expect(names.toSorted()).toEqual(['shared.example', ...own].toSorted())
      expect(await account.requests.list()).toHaveLength(CLIENTS_OF_EACH)
    }
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
