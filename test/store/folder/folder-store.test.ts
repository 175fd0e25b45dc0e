import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Charge } from '../../../src/domain/quotas.ts'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { type AccountRecord, decodeAccount, encodeAccount } from '../../../src/store/record.ts'
import type { Store } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeStore } from '../conformance.ts'
import { hit, nextRequest, trigger } from '../counting.ts'
import { exampleAccount, SETTINGS, watch } from '../example-account.ts'

const charge: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }

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
    { name: 'a.example', addedAt: 2, features: [] },
  ],
  formerDomains: [{ name: 'old.example', nature: { profile: 'parked', since: 3, policy: { p: 'reject' } } }],
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
  version: 2,
  account: fullRecord,
  quotas: { 'key_1/dmarc': { startedAt: 0, used: 2 } },
  tallies: { fault_1: { matched: 4, hits: 4 } },
  requests: 9,
})}\n`

const NOT_ALLOWED =
  'is not allowed here; allowed fields are id, plan, seed, origin, createdAt, clock, keys, domains, formerDomains, groups, groupsCreated, keysCreated, faults, faultsCreated'

async function open(folder: string): Promise<Store> {
  const store = await openFolderStore(folder, SETTINGS)
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

describeStore(
  'the store in a folder',
  async (clock) => {
    const folder = temporaryFolder()
    const store = await openFolderStore(folder, SETTINGS, { clock })
    return {
      store,
      async reopen() {
        await store.close()
        return openFolderStore(folder, SETTINGS, { clock })
      },
    }
  },
  { outlives: true },
)

describe('a folder of accounts', () => {
  it('is made when it is missing', async () => {
    const folder = join(temporaryFolder(), 'not', 'there')
    await (await open(folder)).create(exampleAccount('acme'))
    expect(readdirSync(folder)).toEqual(['.lock', 'account-acme.json'])
  })

  it('holds one file for each account, in the documented format', async () => {
    const folder = temporaryFolder()
    const store = await open(folder)
    await store.create(decodeAccount(fullRecord, SETTINGS))
    await hit(store, 'acme', 'key_1/dmarc', charge, 0)
    await hit(store, 'acme', 'key_1/dmarc', charge, 0)
    const target = { operation: 'listDmarc', method: 'GET', path: '/dmarc', key: 'key_1', answersWith: () => true }
    for (let request = 0; request < 4; request++) await trigger(store, 'acme', target, 0)
    for (let request = 0; request < 9; request++) await nextRequest(store, 'acme')
    await store.close()
    expect(readdirSync(folder)).toEqual(['account-acme.json'])
    expect(JSON.parse(readFileSync(join(folder, 'account-acme.json'), 'utf8'))).toEqual(JSON.parse(fullFile))
  })

  it('gives back every part of an account after it was closed', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'account-acme.json'), fullFile)
    const store = await open(folder)
    expect(encodeAccount(await store.read('acme'))).toEqual(fullRecord)
    expect(await store.accountOf('k1')).toBe('acme')
    expect(await hit(store, 'acme', 'key_1/dmarc', charge, 0)).toMatchObject({ remaining: 17 })
    expect(await nextRequest(store, 'acme')).toBe(10)
  })

  it('has an account on disk once it is created, and a change once it is answered', async () => {
    const folder = temporaryFolder()
    const store = await open(folder)
    await store.create(exampleAccount('acme'))
    expect(readFileSync(join(folder, 'account-acme.json'), 'utf8')).toContain('"domains":[]')
    await store.update('acme', watch('a.example'))
    expect(readFileSync(join(folder, 'account-acme.json'), 'utf8')).toContain('"name":"a.example"')
  })

  it('names files so that they differ in more than case, and by the id where it is surely safe', async () => {
    const folder = temporaryFolder()
    const store = await open(folder)
    for (const id of ['acme-1_x', 'ACME', 'Acme', '../acme', 'x'.repeat(101)]) await store.create(exampleAccount(id))
    const names = readdirSync(folder).filter((name) => name !== '.lock')
    expect(names).toContain('account-acme-1_x.json')
    expect(names.filter((name) => /^account~[0-9a-f]{64}\.json$/.test(name))).toHaveLength(4)
  })

  it('does not touch the file of an account that is only read', async () => {
    const folder = temporaryFolder()
    const spaced = JSON.stringify(JSON.parse(fullFile), null, 2)
    writeFileSync(join(folder, 'account-acme.json'), spaced)
    const store = await open(folder)
    await store.read('acme')
    await store.close()
    expect(readFileSync(join(folder, 'account-acme.json'), 'utf8')).toBe(spaced)
  })

  it('rejects what it cannot write, stays as it was, and works again when the disk does', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'account-acme.json')
    const obstacle = join(folder, '.account-acme.json.tmp')
    const store = await open(folder)
    await store.create(exampleAccount('acme'))
    const before = await store.read('acme')
    const fileBefore = readFileSync(path, 'utf8')

    mkdirSync(obstacle)
    const outcomes = await Promise.allSettled([
      store.update('acme', watch('a.example')),
      store.update('acme', watch('b.example')),
    ])
    const reason = {
      problem: 'unusable',
      message: `${path} cannot be written (EISDIR: illegal operation on a directory, unlink '${obstacle}')`,
    }
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
    expect(await store.read('acme')).toBe(before)
    expect(readFileSync(path, 'utf8')).toBe(fileBefore)

    rmdirSync(obstacle)
    await store.update('acme', watch('c.example'))
    expect(readFileSync(path, 'utf8')).toContain('"domains":[{"name":"c.example"')
  })

  it('forgets an account that it could not write', async () => {
    const folder = temporaryFolder()
    const store = await open(folder)
    mkdirSync(join(folder, '.account-acme.json.tmp'))
    await expect(store.create(exampleAccount('acme', ['k1']))).rejects.toMatchObject({ problem: 'unusable' })
    expect(await store.list()).toEqual([])
    rmdirSync(join(folder, '.account-acme.json.tmp'))
    await store.create(exampleAccount('acme', ['k1']))
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

  it('takes no notice of the temporary file of a process that was killed, and writes over it', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'account-acme.json'), fullFile)
    writeFileSync(join(folder, '.account-acme.json.tmp'), fullFile.slice(0, 100))
    const store = await open(folder)
    expect(encodeAccount(await store.read('acme'))).toEqual(fullRecord)
    await store.update('acme', watch('c.example'))
    await store.close()
    expect(readdirSync(folder)).toEqual(['account-acme.json'])
  })

  it('evicts only accounts of which it is stored that they may be evicted', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'account-acme.json'), fullFile)
    const store = await open(folder)
    await store.create(exampleAccount('sandbox'), { evictable: true })
    await store.close()
    const { use } = JSON.parse(readFileSync(join(folder, 'account-sandbox.json'), 'utf8'))
    expect(use).toEqual({ usedAt: expect.any(Number), changed: false })
    const later = await open(folder)
    expect(await later.create(exampleAccount('other'), { limit: 2, idle: 0 })).toBe('sandbox')
    expect(await later.hasRoom({ limit: 2, idle: 0 })).toBe(false)
    expect(readdirSync(folder)).toEqual(['.lock', 'account-acme.json', 'account-other.json'])
  })

  it('keeps an evicted account in its place when its file cannot be removed', async () => {
    const folder = temporaryFolder()
    let time = 0
    const store = await openFolderStore(folder, SETTINGS, { clock: () => ++time })
    onTestFinished(() => store.close())
    for (const id of ['a', 'b']) await store.create(exampleAccount(id), { evictable: true })
    const path = join(folder, 'account-a.json')
    rmSync(path)
    mkdirSync(path)
    const refused = { problem: 'unusable', message: expect.stringContaining(`${path} cannot be removed`) }
    await expect(store.create(exampleAccount('c'), { limit: 2 })).rejects.toMatchObject(refused)
    rmdirSync(path)
    expect(await store.create(exampleAccount('d'), { limit: 3 })).toBe('a')
  })

  it('reads files of version 1, which know no removed domains, and writes them in the present version', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'account-acme.json')
    const { formerDomains: _, ...older } = fullRecord
    writeFileSync(
      path,
      fullFile.replace(JSON.stringify(fullRecord), JSON.stringify(older)).replace('"version":2', '"version":1'),
    )
    const store = await open(folder)
    expect(encodeAccount(await store.read('acme'))).toEqual(older)
    await store.update('acme', watch('c.example'))
    expect(JSON.parse(readFileSync(path, 'utf8')).version).toBe(2)
  })

  it.each([
    ['a path that is a file', 'file', 'is not a folder'],
    ['a path below a file', join('file', 'below'), 'is not a folder'],
  ])('cannot be %s', async (_, name, problem) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    const path = join(folder, name)
    await expect(openFolderStore(path, SETTINGS)).rejects.toMatchObject({
      problem: 'unusable',
      message: `${path} ${problem}`,
    })
  })

  it.each([
    ['is empty', '', 'is empty'],
    ['holds nothing but a line break', '\n', 'is empty'],
    ['was cut off', fullFile.slice(0, -20), 'is not JSON; it was cut off or changed by hand'],
    ['is no JSON', 'hello', 'is not JSON; it was cut off or changed by hand'],
    ['belongs to another program', '{"name": "x"}', notOurs()],
    ['is an array', '[]', notOurs()],
    ['is `null`', 'null', notOurs()],
    ['hides its format in a prototype', `{"__proto__": ${fullFile}}`, notOurs()],
    [
      'is of a newer version',
      edited('"version":2', '"version":3'),
      'was written by a newer dmarc-understudy (version 3; this one reads 2)',
    ],
    ['is of no version', edited('"version":2,', ''), '/version is missing'],
    ['is of an impossible version', edited('"version":2', '"version":0'), '/version is 0 but must be one of 1, 2'],
    ['lacks a property', edited('"plan":"stone",', ''), '/account/plan is missing'],
    [
      'has a property of the wrong type',
      edited('"name":"Web"', '"name":7'),
      '/account/groups/1/name is 7 but must be of type string',
    ],
    ['has a broken number', edited('"seed":7', '"seed":7.5'), '/account/seed is 7.5 but must be of type integer'],
    ['has a negative count', edited('"requests":9', '"requests":-9'), '/requests is -9 but must be at least 0'],
    [
      'has a broken quota',
      edited('"used":2', '"used":null'),
      '/quotas/key_1~1dmarc/used is null but must be of type integer',
    ],
    [
      'has a clock that both stands and goes',
      edited('"clock":{', '"clock":{"offset":1,'),
      '/account/clock is {"offset":1,"frozenAt":1768467600000} but must have at most 1 field',
    ],
    ['has an unknown property', edited('"seed":', '"a/b":1,"seed":'), `/account/a~1b ${NOT_ALLOWED}`],
    ['has a prototype', edited('"seed":', '"__proto__":{"plan":"x"},"seed":'), `/account/__proto__ ${NOT_ALLOWED}`],
    [
      'has a prototype for a quota',
      edited('"quotas":{', '"quotas":{"__proto__":1,'),
      '/quotas/__proto__ is 1 but must be of type object',
    ],
    [
      'monitors a domain twice',
      edited('"name":"a.example"', '"name":"b.example"'),
      '/account/domains/1/name "b.example" appears twice',
    ],
    ['has a group twice', edited('"id":"g2"', '"id":"g1"'), '/account/groups/1/id "g1" appears twice'],
    [
      'has a member that is not monitored',
      edited('"b.example","a.example"', '"b.example","c.example"'),
      '/account/groups/0/domains/1 "c.example" is not monitored',
    ],
    [
      'has a member twice',
      edited('"b.example","a.example"', '"b.example","b.example"'),
      '/account/groups/0/domains/1 "b.example" appears twice',
    ],
    [
      'has a removed domain twice',
      edited('"formerDomains":[', '"formerDomains":[{"name":"old.example","nature":{}},'),
      '/account/formerDomains/1/name "old.example" appears twice',
    ],
    [
      'has a key twice',
      edited('"keys":[', '"keys":[{"id":"key_2","hash":"k1","createdAt":5,"disabled":false},'),
      '/account/keys/1/hash "k1" appears twice',
    ],
    [
      'has a fault rule twice',
      edited('"faults":[', '"faults":[{"id":"fault_1","createdAt":6,"rule":{}},'),
      '/account/faults/1/id "fault_1" appears twice',
    ],
    [
      'has more fault rules than were created',
      edited('"faultsCreated":1', '"faultsCreated":0'),
      '/account/faults/0/id "fault_1" is none of the ids fault_1 to fault_0 (/account/faultsCreated)',
    ],
    [
      'has a fault rule that acted more often than it matched',
      edited('"matched":4', '"matched":3'),
      '/tallies/fault_1/hits is 4, which is more than the 3 that matched',
    ],
    [
      'says that it was made of nothing',
      edited('"fixture":"empty"', '"fixture":7'),
      '/account/origin/fixture is 7 but must be of type string or object',
    ],
    [
      'has a time that does not exist',
      edited('"createdAt":5', '"createdAt":1e300'),
      '/account/keys/0/createdAt is 1e+300 but must be at most 8640000000000000',
    ],
    [
      'is nested deeply',
      edited('"quotas":{', `"quotas":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)},`),
      expect.stringContaining('/quotas/x is '),
    ],
    [
      'is a copy of another',
      edited('"id":"acme"', '"id":"other"'),
      '/account/id "other" belongs in account-other.json',
    ],
  ])('is not opened, and not changed, when a file %s', async (_, content, problem) => {
    const folder = temporaryFolder()
    const path = join(folder, 'account-acme.json')
    writeFileSync(path, content)
    await expect(openFolderStore(folder, SETTINGS)).rejects.toMatchObject({
      name: 'StoreError',
      problem: 'damaged',
      message: typeof problem === 'string' ? `${path}: ${problem}` : problem,
    })
    expect(readdirSync(folder)).toEqual(['account-acme.json'])
    expect(readFileSync(path, 'utf8')).toBe(content)
    writeFileSync(path, fullFile)
    await open(folder)
  })

  it('is not opened when two of its accounts have the same key', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'account-acme.json'), fullFile)
    writeFileSync(join(folder, 'account-other.json'), edited('"id":"acme"', '"id":"other"'))
    await expect(openFolderStore(folder, SETTINGS)).rejects.toMatchObject({
      problem: 'damaged',
      message: `${join(folder, 'account-other.json')}: /account/keys/0 belongs to the account "acme" too`,
    })
  })

  it.each<[what: string, make: (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a link to nowhere', (path) => symlinkSync('nowhere', path)],
    [
      'a link to a file',
      (path) => {
        writeFileSync(`${path}.bak`, fullFile)
        symlinkSync(`${path}.bak`, path)
      },
    ],
    ['a device', (path) => symlinkSync('/dev/zero', path)],
  ])('is not opened when what should be a file is %s', async (_, make) => {
    const folder = temporaryFolder()
    const path = join(folder, 'account-acme.json')
    make(path)
    await expect(openFolderStore(folder, SETTINGS)).rejects.toMatchObject({
      problem: 'damaged',
      message: `${path}: is not a regular file`,
    })
  })

  it('is not opened when a file is larger than any account, which is known before it is read', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'account-acme.json')
    writeFileSync(path, '{')
    // Takes no space on the disk; reading it would take a gigabyte of memory.
    truncateSync(path, 2 ** 30)
    await expect(openFolderStore(folder, SETTINGS)).rejects.toMatchObject({
      problem: 'damaged',
      message: `${path}: has more than 256 MiB, which is the most that an account may have`,
    })
  })

  it('opens with hundreds of accounts', async () => {
    const folder = temporaryFolder()
    const first = await open(folder)
    const ids = Array.from({ length: 300 }, (_, index) => `account-${index}`)
    await Promise.all(ids.map((id) => first.create(exampleAccount(id, [id]))))
    await Promise.all(ids.map((id) => nextRequest(first, id)))
    await first.close()
    const second = await open(folder)
    expect((await second.list()).toSorted()).toEqual(ids.toSorted())
    expect(await nextRequest(second, 'account-299')).toBe(2)
  })
})

function edited(part: string, replacement: string): string {
  expect(fullFile).toContain(part)
  return fullFile.replace(part, replacement)
}

function notOurs(): string {
  return 'is not an account of dmarc-understudy: /format must be "dmarc-understudy/account"'
}
