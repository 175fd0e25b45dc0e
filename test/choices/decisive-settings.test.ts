import { expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import { decisiveSettings } from '../../src/choices/decisive-settings.ts'
import { settingOf } from '../../src/contract/choices.ts'
import { HOSTNAME_SETTINGS } from '../../src/contract/hostname.ts'
import { replicateAccount } from '../../src/domain/account.ts'
import { kebab, type Settings } from '../../src/domain/settings.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import { findReached } from '../../src/trials/vary/counterfactual.ts'
import { ACCOUNT, pathOf } from '../support/account.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, type TestService } from '../support/service.ts'
import { optionsOf, record } from '../trials/vary/recorded-service.ts'

/** These change how a response is written, or they belong to the gate or to the names of hosts. */
const OTHERS: ReadonlySet<string> = new Set<keyof Settings>([
  ...(['plans', 'precedence', 'decimals', 'responseType', 'cors', 'clientRequestIds', 'quotaHeaders'] as const),
  ...([...HOSTNAME_SETTINGS].filter((name) => name !== 'spelling') as (keyof Settings)[]),
])

async function askAll(service: TestService): Promise<void> {
  const sales = await pathOf(service, 'Sales')
  const add = (domains: unknown) =>
    service.send('POST', '/domains', typeof domains === 'string' ? domains : { domains })
  for (const path of ['/domains', '/dmarc', '/domaingroups?x=1&y=', sales, `${sales}&id=0`, '/domains/', '/nothing'])
    await service.get(path)
  for (const path of ['/nothing', '/dmarc']) await service.send('GET', path, undefined, { authorization: null })
  await service.send('GET', '/dmarc', undefined, { authorization: `bearer ${API_KEY}` })
  await service.send('HEAD', '/domains')
  await service.send('GET', '/dmarc', { a: 1 })
  await add(['New.example', 'b.example', 'a.example'])
  await add(['x.example', 'X.example', 'one.example'])
  await add(['one.example'])
  await add(['no host'])
  await add('{"domains":["c.example"],"domains":["d.example"]}')
  await add(`{"domains":["e.example"]}${' '.repeat(70_000)}`)
  await add('\ufeff{"domains":["f.example"]}')
  await service.send('POST', '/domains', '{"domains":["g.example"]}', { 'content-type': 'text/plain' })
  await service.send('POST', '/domains', '{"domains":["h.example"]}', {
    'content-type': 'application/json; charset=l1',
  })
  await service.send('DELETE', '/domains', { domains: ['busy.example', 'b.example', 'x.example'] })
  await service.send('DELETE', '/domains', { domains: ['used.example', 'a.example'] })
  for (const name of [' Caf\u00e9\u200b ', 'A\u0007', 'a\0', 'a\ud83d', 'SALES', '\ud83d\ude00'.repeat(60)])
    await service.send('POST', '/domaingroups', { name, domains: ['one.example', 'one.example'] })
  await service.send('PATCH', sales, { name: 'SALES', add_domains: ['two.example', 'z.example'] })
  await service.send('PATCH', sales, { name: 'Sales', add_domains: null, remove_domains: ['one.example'] })
  await service.send('PATCH', sales, { name: 'sales' })
}

it('names the settings under which a request is answered otherwise, and no others', async () => {
  const options = { fixture: ACCOUNT }
  const recording = await record(options, askAll)
  const { reached } = await findReached({ server: optionsOf(options), choices, recordings: [recording] })
  const contract = bindBehaviours(choices.contract, { behaviours: OPERATIONS, simulator: false })
  const all = recording.requests.map(({ entry, past, others }, index) => {
    const [state = others[0]] = past === undefined ? [] : [past.account]
    const found = state && runAtOnce(decisiveSettings(entry, [runAtOnce(replicateAccount(state))], contract))
    const changing = reached.flatMap(({ alternative, changes }) => {
      const name = settingOf(alternative)
      const isOther = changes.some((each) => each.index === index && /status|body/.test(each.parts.join()))
      return name === undefined || OTHERS.has(name) || !isOther ? [] : [kebab(name)]
    })
    const hosts = [...HOSTNAME_SETTINGS].map(kebab).filter((name) => name !== 'spelling')
    const title = `${index} ${entry.method} ${entry.target} ${entry.status} ${entry.code ?? ''}`
    return [title, found?.filter((name) => !hosts.includes(name)).sort(), [...new Set(changing)].sort()] as const
  })
  expect(all.length).toBeGreaterThan(30)
  expect(Object.fromEntries(all.map(([title, found]) => [title, found]))).toEqual(
    Object.fromEntries(all.map(([title, , changing]) => [title, changing])),
  )
})
