import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { type AccountRecord, decodeAccount, encodeAccount } from '../../../src/store/record.ts'
import type { Store } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeStore } from '../conformance.ts'
import { hit, nextRequest, target, trigger } from '../counting.ts'
import { exampleAccount, SETTINGS, watch } from '../example-account.ts'

const fullRecord: AccountRecord = {
  id: 'acme',
  plan: 'stone',
  seed: 7,
  origin: { fixture: 'empty', seed: 7, key: { id: 'key_1', hash: 'k1' } },
  createdAt: 1_768_467_600_000,
  clock: { frozenAt: 1_768_467_600_000 },
  keys: [{ id: 'key_1', hash: 'k1', label: 'ci', createdAt: 5, disabled: true }],
  domains: [
    { name: 'b.example', addedAt: 1, features: ['mta-sts'] },
    { name: 'a.example', addedAt: 2, features: [], pin: { p: 'reject' }, pinnedAt: 5 },
  ],
  groups: [
    { id: 'g1', name: 'Mail', domains: ['b.example', 'a.example'] },
    { id: 'g2', name: 'Web', domains: [] },
  ],
  groupsCreated: 3,
  keysCreated: 0,
  faults: [{ id: 'fault_1', set: 'slow', createdAt: 6, rule: { delay_ms: 100 } }],
  faultsCreated: 1,
}

const fullFile = `${JSON.stringify({
  format: 'dmarc-understudy/account',
  version: 3,
  account: fullRecord,
  quotas: { 'key_1/dmarc': { startedAt: 0, used: 2 } },
  tallies: { fault_1: { matched: 4, hits: 4 } },
  requests: 9,
})}\n`

const NOT_ALLOWED =
  'is not allowed here; allowed fields are id, plan, seed, origin, createdAt, clock, keys, domains, groups, groupsCreated, keysCreated, faults, faultsCreated'

async function open(folder: string, options?: Parameters<typeof openFolderStore>[2]): Promise<Store> {
  const store = await openFolderStore(folder, SETTINGS, options)
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** A folder, in which the account `acme` has a file with this content where there is one. */
function folderWith(content?: string) {
  const folder = temporaryFolder()
  const path = join(folder, 'account-acme.json')
  if (content !== undefined) writeFileSync(path, content)
  return { folder, path, read: () => readFileSync(path, 'utf8') }
}

describeStore('the store in a folder', async (clock) => {
  const folder = temporaryFolder()
  let store = await openFolderStore(folder, SETTINGS, { clock })
  return {
    store,
    async reopen() {
      await store.close()
      store = await openFolderStore(folder, SETTINGS, { clock })
      return store
    },
  }
})

describe('a folder of accounts', () => {
  it('holds one file for each account, in the documented format', async () => {
    const { folder, read } = folderWith()
    const store = await open(folder)
    await store.create(decodeAccount(fullRecord, SETTINGS))
    await hit(store, 'acme', 'key_1/dmarc')
    await hit(store, 'acme', 'key_1/dmarc')
    for (let request = 0; request < 4; request++) await trigger(store, 'acme', target, 0)
    for (let request = 0; request < 3; request++) await nextRequest(store, 'acme')
    await store.close()
    expect(readdirSync(folder)).toEqual(['account-acme.json'])
    expect(JSON.parse(read())).toEqual(JSON.parse(fullFile))
  })

  it('gives back every part of an account after it was closed', async () => {
    const { folder } = folderWith(fullFile)
    const store = await open(folder)
    expect(encodeAccount((await store.read('acme')).state)).toEqual(fullRecord)
    expect(await store.find('key', 'k1')).toBe('acme')
    expect(await hit(store, 'acme', 'key_1/dmarc')).toMatchObject({ remaining: 17 })
    expect(await nextRequest(store, 'acme')).toBe(11)
  })

  it('names files so that they differ in more than case, and by the id where it is surely safe', async () => {
    const folder = temporaryFolder()
    const store = await open(folder)
    for (const id of ['acme-1_x', 'ACME', 'Acme', '../acme', 'x'.repeat(101)]) await store.create(exampleAccount(id))
    const names = readdirSync(folder).filter((name) => name !== '.lock')
    expect(names).toContain('account-acme-1_x.json')
    expect(names.filter((name) => /^account~[0-9a-f]{64}\.json$/.test(name))).toHaveLength(4)
  })

  it('has on the disk, when it is answered, neither a deleted account nor the former holder of its id', async () => {
    const { folder, read } = folderWith()
    const store = await open(folder)
    await store.create(exampleAccount('acme', ['k1']))
    await Promise.all([store.delete('acme'), store.create(exampleAccount('other', ['k2']))])
    await store.create(exampleAccount('acme', ['k3']))
    // As it stands on the disk at this moment, which is what a kill would leave.
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    await store.close()
    expect(names.toSorted()).toEqual(['account-acme.json', 'account-other.json'])
    expect(read()).toContain('"k3"')
  })

  it('does not touch the file of an account that is only read', async () => {
    const spaced = JSON.stringify(JSON.parse(fullFile), null, 2)
    const { folder, read } = folderWith(spaced)
    const store = await open(folder)
    await store.read('acme')
    await store.close()
    expect(read()).toBe(spaced)
  })

  it('takes no notice of files that are not its own', async () => {
    const folder = temporaryFolder()
    const strangers = ['README.md', '.DS_Store', '._account-acme.json', 'account-acme.json.bak']
    for (const name of strangers) writeFileSync(join(folder, name), 'hello')
    const store = await open(folder)
    expect(await store.list()).toEqual([])
    await store.close()
    expect(readdirSync(folder).toSorted()).toEqual(strangers.toSorted())
  })

  it.each([['a file'], ['a file', 'below']])('cannot be at the path %s/%s', async (...names) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a file'), '')
    const path = join(folder, ...names)
    const refused = { problem: 'unusable', message: `${path} is not a folder` }
    await expect(open(path)).rejects.toMatchObject(refused)
  })

  const CUT_OFF = 'is not JSON; it was cut off or changed by hand'

  it.each<[problem: string, content: string]>([
    [CUT_OFF, ''],
    [CUT_OFF, fullFile.slice(0, -20)],
    ['/format is missing', edited('"format":"dmarc-understudy/account",', '')],
    ['/version is 4 but must be 3', edited('"version":3', '"version":4')],
    ['/version is missing', edited('"version":3,', '')],
    ['/account/plan is missing', edited('"plan":"stone",', '')],
    ['/account/groups/1/name is 7 but must be of type string', edited('"name":"Web"', '"name":7')],
    ['/requests is -9 but must be at least 0', edited('"requests":9', '"requests":-9')],
    ['/quotas/key_1~1dmarc/used is null but must be of type integer', edited('"used":2', '"used":null')],
    [
      '/account/clock is {"offset":1,"frozenAt":1768467600000} but must have at most 1 field',
      edited('"clock":{', '"clock":{"offset":1,'),
    ],
    [`/account/a~1b ${NOT_ALLOWED}`, edited('"seed":', '"a/b":1,"seed":')],
    [`/account/__proto__ ${NOT_ALLOWED}`, edited('"seed":', '"__proto__":{"plan":"x"},"seed":')],
    ['/account/domains/0/pin/q ', edited('"name":"b.example"', '"name":"b.example","pin":{"q":1}')],
    ['/account/origin/fixture is 7 but must be of type string or object', edited('"fixture":"empty"', '"fixture":7')],
    [
      '/account/keys/0/createdAt is 1e+300 but must be at most 8640000000000000',
      edited('"createdAt":5', '"createdAt":1e300'),
    ],
    ['/quotas/x is ', edited('"quotas":{', `"quotas":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)},`)],
    ['/account/id "other" belongs in account-other.json', edited('"id":"acme"', '"id":"other"')],
  ])('is not opened, and not changed, when a file %s', async (problem, content) => {
    const { folder, path, read } = folderWith(content)
    const message = problem.endsWith(' ') ? expect.stringContaining(`${path}: ${problem}`) : `${path}: ${problem}`
    const error = { name: 'StoreError', problem: 'damaged', message }
    await expect(open(folder)).rejects.toMatchObject(error)
    expect(readdirSync(folder)).toEqual(['account-acme.json'])
    expect(read()).toBe(content)
    writeFileSync(path, fullFile)
    await open(folder)
  })

  it('is not opened when two of its accounts have the same key', async () => {
    const { folder } = folderWith(fullFile)
    writeFileSync(join(folder, 'account-other.json'), edited('"id":"acme"', '"id":"other"'))
    const message = 'The key "key_1" belongs to the account "acme" already'
    await expect(open(folder)).rejects.toMatchObject({ problem: 'taken', message })
  })
})

describe('a folder of accounts, and the other users of the machine:', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

  it.each([0o000, 0o022, 0o077])('it and all in it belong to its owner alone, with a umask of %i', async (mask) => {
    const usual = process.umask(mask)
    onTestFinished(() => void process.umask(usual))
    const folder = join(temporaryFolder(), 'not', 'there')
    const store = await open(folder)
    await store.create(exampleAccount('acme'))
    await store.update('acme', watch('a.example'))
    expect(modeOf(folder)).toBe('700')
    const names = readdirSync(folder)
    expect(names).toEqual(['.lock', 'account-acme.json'])
    for (const name of names) expect([name, modeOf(join(folder, name))]).toEqual([name, '600'])
  })

  it('one that others can look into stays as it is, with a warning that says how to change that', async () => {
    const folder = join(temporaryFolder(), "owner's")
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const warnings: string[] = []
    const warn = (message: string) => warnings.push(message)
    await open(temporaryFolder(), { warn })
    await open(folder, { warn })
    expect(modeOf(folder)).toBe('755')
    const command = `chmod 700 '${folder.replace("'", "'\\''")}'`
    expect(warnings).toEqual([`Other users of this machine can look into ${folder}; keep them out with: ${command}`])
  })

  it('it is written through no link that somebody has put in the place of a temporary file', async () => {
    const folder = temporaryFolder()
    const precious = join(temporaryFolder(), 'precious')
    writeFileSync(precious, 'precious')
    const store = await open(folder)
    for (const id of ['acme', 'other']) symlinkSync(precious, join(folder, `.account-${id}.json.tmp`))
    await store.create(exampleAccount('acme'))
    await store.update('acme', watch('a.example'))
    expect(readFileSync(precious, 'utf8')).toBe('precious')
    expect(readFileSync(join(folder, 'account-acme.json'), 'utf8')).toContain('a.example')
    await store.close()
    await open(folder)
    expect(readdirSync(folder)).toEqual(['.lock', 'account-acme.json'])
  })
})

function edited(part: string, replacement: string): string {
  expect(fullFile).toContain(part)
  return fullFile.replace(part, replacement)
}
