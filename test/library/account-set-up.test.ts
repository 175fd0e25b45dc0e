import { beforeEach, describe, expect, it } from 'vitest'
import type { AccountWithKey, Understudy } from '../../src/index.ts'
import { send, start } from './stand-in.ts'

let understudy: Understudy
let account: AccountWithKey

beforeEach(async () => {
  understudy = await start()
  account = await understudy.createAccount()
})

const ask = async (path: string) => (await send(understudy, account, 'GET', path)).body.data

describe('the domains of an account', () => {
  it('are added and removed, one by one or as a list', async () => {
    expect(await account.domains.add('One.example', 'two.example')).toEqual(['one.example', 'two.example'])
    expect(await account.domains.add(['three.example'])).toEqual(['three.example'])
    expect(await account.domains.add('four.example')).toEqual(['four.example'])
    expect(await account.domains.remove(['two.example'])).toEqual(['two.example'])
    expect(await account.domains.remove('one.example', 'four.example')).toEqual(['one.example', 'four.example'])
    expect((await account.domains.list()).map(({ domain }) => domain)).toEqual(['three.example'])
    expect((await ask('/domains')).domains).toEqual(['three.example'])
  })

  it('cost no quota and are no requests', async () => {
    await account.quotas.set('domains', 0)
    await account.domains.add('one.example')
    expect(await account.requests.list()).toEqual([])
    expect((await understudy.verdict()).requests).toBe(0)
  })

  it.each<[what: string, names: string[], code: string, sentence: string]>([
    ['are monitored', ['one.example'], 'invalid_domain', '`domains[0]`: one.example is monitored already.'],
    ['are no hostnames', ['a.example', 'no host'], 'invalid_domain', '`domains[1]`'],
    ['are none', [], 'missing_field', '`domains`'],
    ['are too many', Array.from({ length: 51 }, (_, n) => `d${n}.example`), 'request_too_large', '50'],
  ])('that %s are refused in the words of the service', async (_, names, code, sentence) => {
    await account.domains.add('one.example')
    const error = await account.domains.add(...names).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'ControlError', code: 'refused', problems: [{ code }] })
    expect((error as Error).message).toContain(`The service refuses this with ${code}: `)
    expect((error as Error).message).toContain(sentence)
    expect((await account.domains.list()).length).toBe(1)
  })
})

describe('the groups of an account', () => {
  it('are created, changed, listed and deleted', async () => {
    await account.domains.add('one.example', 'two.example')
    const shop = await account.groups.create({ name: 'Shop', domains: ['ONE.example'] })
    expect(shop).toEqual({ id: expect.stringMatching(/^\w{8}$/), name: 'Shop', domains: ['one.example'] })
    const mail = await account.groups.create({ name: 'Mail' })
    expect(await account.groups.update(shop.id, { name: 'Store', add_domains: ['two.example'] })).toEqual({
      id: shop.id,
      name: 'Store',
      domains: ['one.example', 'two.example'],
    })
    await account.groups.update(shop.id, { remove_domains: ['one.example'] })
    expect((await ask('/domaingroups')).groups).toEqual(await account.groups.list())
    await account.groups.delete(mail.id)
    expect(await account.groups.list()).toEqual([{ id: shop.id, name: 'Store', domains: ['two.example'] }])
  })

  it.each<[what: string, call: (id: string) => Promise<unknown>, code: string]>([
    ['has the name of another', () => account.groups.create({ name: 'SHOP' }), 'duplicate_name'],
    [
      'has a member that is not monitored',
      () => account.groups.create({ name: 'x', domains: ['x.example'] }),
      'not_monitored',
    ],
    ['does not change', (id) => account.groups.update(id, {}), 'no_fields_to_update'],
    [
      'changes its members twice',
      (id) => account.groups.update(id, { domains: [], add_domains: [] }),
      'conflicting_fields',
    ],
    ['is not there', () => account.groups.delete('nothing'), 'not_found'],
  ])('refuse one that %s, and nothing changes', async (_, call, code) => {
    const shop = await account.groups.create({ name: 'Shop' })
    await expect(call(shop.id)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(`refuses this with ${code}: `),
      problems: [expect.objectContaining({ code })],
    })
    expect(await account.groups.list()).toEqual([shop])
  })
})
