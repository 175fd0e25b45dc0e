import { expect, it } from 'vitest'
import type { Understudy } from '../../src/index.ts'
import { send, start } from './stand-in.ts'

/** What makes an account unlike any other. */
const CHARACTERS = [0, 1, 2, 3, 4].map((number) => ({
  id: `account-of-${number}`,
  seed: 1000 + number,
  now: new Date(Date.parse('2026-01-01T00:10:00Z') + number * 90_061_000).toISOString(),
  frozen: true,
  plan: number === 3 ? 'below-stone' : 'stone',
  fixture: { domains: Array.from({ length: 1 + number }, (_, index) => `d${index}.account-${number}.example`) },
}))

/** All that the client of such an account gets, and then all that the account has to tell. */
async function tell(understudy: Understudy, character: (typeof CHARACTERS)[number], quota: number): Promise<unknown[]> {
  const account = await understudy.createAccount(character)
  await account.quotas.set('domains', quota)
  const fault = {
    match: { operation: 'listDomainGroups' },
    respond: { error: 'internal_error' },
    times: 1 + quota,
  } as const
  await account.faults.add(fault)
  const told: unknown[] = []
  for (let round = 0; round < 3; round++) {
    const group = { name: `group ${round}`, domains: character.fixture.domains }
    for (const [method, path, body] of [
      ...[
        ['GET', '/domains'],
        ['GET', '/dmarc'],
      ],
      ...[
        ['POST', '/domaingroups', group],
        ['GET', '/domaingroups'],
      ],
    ] as [string, string, object?][]) {
      const { status, headers, text } = await send(understudy, account, method, path, body)
      const { connection: _, 'keep-alive': __, ...fields } = headers
      told.push([status, fields, text])
    }
  }
  const requests = (await account.requests.list()).map(({ id: _, ordinal: __, duration_ms: ___, ...each }) => each)
  const pageless = JSON.stringify(requests)
    .replaceAll(understudy.baseUrl, '')
    .replaceAll(/"host":"[^"]*"/g, '')
  return [
    ...told,
    pageless,
    (await account.coverage()).summary,
    await account.faults.list(),
    await account.groups.list(),
  ]
}

/** An account that comes and goes meanwhile, with everything that may happen to one. */
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

it('Accounts that are used at once give what each would give alone, to the byte, and tell nothing of others', async () => {
  const [busy, quiet] = [await start({ seed: 5 }), await start({ seed: 5 })]
  const [together] = await Promise.all([
    Promise.all(CHARACTERS.map((character, index) => tell(busy, character, index))),
    ...CHARACTERS.map((_, index) => disturb(busy, index)),
  ])
  for (const [index, character] of CHARACTERS.entries()) {
    expect(together[index]).toEqual(await tell(quiet, character, index))
  }
  expect((await busy.listAccounts()).map(({ id }) => id)).toEqual(['default', ...CHARACTERS.map(({ id }) => id)])
})
