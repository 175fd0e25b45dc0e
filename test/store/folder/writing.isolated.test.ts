import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Log } from '../../../src/ground/log.ts'
import type { Durability } from '../../../src/store/folder/account-file.ts'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { askControl } from '../../support/control-plane.ts'
import { startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  applyUpdate,
  exampleAccount,
  replace,
  SETTINGS,
  domainsOf as storedDomainsOf,
  watch,
} from '../example-account.ts'
import type { Deed, ObservedDisk } from './observed-disk.ts'

const disk = vi.hoisted((): ObservedDisk => ({ deeds: [], failing: new Map() }))
vi.mock('node:fs/promises', async (original) => {
  const { observePromises } = await import('./observed-disk.ts')
  return observePromises(await original(), disk)
})
beforeEach(() => {
  disk.deeds.length = 0
  disk.failing.clear()
})

const LOST = 'Changes are refused, because they cannot be written.'
const BACK = 'Changes can be written again.'

/** A service on a folder, whose account `default` has the domain `kept.example`. */
async function serve(folder: string) {
  /** What was logged beside the requests: the message, and that of its error. */
  const logged: string[] = []
  function note(fields: object, message: string): void {
    if (message !== 'request') logged.push('err' in fields ? `${message} ${fields.err}` : message)
  }
  const log: Log = { info: note, warn: note, error: note }
  const service = await startService({ data: folder, store: undefined, log })
  const add = async (domain: string) => (await service.send('POST', '/domains', { domains: [domain] })).status
  const domains = async () => (await service.get('/domains')).body.data.domains
  const ask = async (method: string, path: string, body?: unknown) =>
    (await askControl(service, method, path, body)).status
  expect(await add('kept.example')).toBe(200)
  return { logged, add, domains, ask, stop: service.stop }
}

/** What a service that is started anew on the folder knows. */
async function domainsIn(folder: string): Promise<unknown> {
  const { get, stop } = await startService({ data: folder, store: undefined })
  const { body } = await get('/domains')
  await stop()
  return body.data.domains
}

describe('a folder that cannot be written', () => {
  it.each<[why: string, deed: Deed, code: string]>([
    ['the disk is full', 'write', 'ENOSPC'],
    ['the file system became read-only', 'write', 'EROFS'],
    ['the server with the disk is gone', 'rename', 'ESTALE'],
  ])('because %s refuses changes and answers reads, says so once, and recovers', async (_, deed, code) => {
    const folder = temporaryFolder()
    const { add, ask, domains, logged, stop } = await serve(folder)
    disk.failing.set(deed, code)
    for (let again = 0; again < 2; again++) {
      expect([await add('lost.example'), await domains()]).toEqual([500, ['kept.example']])
      expect(await ask('POST', '/accounts', { id: 'new' })).toBe(code === 'ENOSPC' ? 507 : 503)
    }
    expect(logged).toEqual([expect.stringMatching(`^${LOST} StoreError: .* cannot be written \\(${code}: `)])
    disk.failing.clear()
    // It is enough that any file can be written: no client may ask for the other accounts again.
    expect(await ask('POST', '/accounts', { id: 'new' })).toBe(201)
    expect(logged.slice(1)).toEqual([BACK])
    expect(await add('back.example')).toBe(200)
    await stop()
    expect(await domainsIn(folder)).toEqual(['kept.example', 'back.example'])
  })

  it('lets accounts be deleted although the disk is full, which makes room', async () => {
    const folder = temporaryFolder()
    const { add, ask, logged } = await serve(folder)
    expect(await ask('POST', '/accounts', { id: 'large' })).toBe(201)
    disk.failing.set('write', 'ENOSPC')
    expect(await add('lost.example')).toBe(500)
    expect(await ask('DELETE', '/accounts/large')).toBe(200)
    expect(readdirSync(folder)).not.toContain('account-large.json')
    expect(logged).not.toContain(BACK)
    disk.failing.clear()
  })

  it('because it was deleted under the service is not made again, and keeps changes when it is back', async () => {
    const folder = join(temporaryFolder(), 'data')
    const { add, domains, logged, stop } = await serve(folder)
    rmSync(folder, { recursive: true })
    expect([await add('lost.example'), await domains()]).toEqual([500, ['kept.example']])
    expect(existsSync(folder)).toBe(false)
    expect(logged).toEqual([expect.stringContaining('(ENOENT: ')])
    mkdirSync(folder)
    expect(await add('back.example')).toBe(200)
    await stop()
    expect(await domainsIn(folder)).toEqual(['kept.example', 'back.example'])
  })
})

/** Opens a store on a folder `data`. */
async function open(durability?: Durability, folder = join(temporaryFolder(), 'data')) {
  const store = await openFolderStore(folder, SETTINGS, { durability })
  onTestFinished(() => store.close().catch(() => undefined))
  disk.deeds.length = 0
  return { store, folder }
}

async function done(task: Promise<unknown>): Promise<string[]> {
  await task
  const deeds = [...disk.deeds]
  disk.deeds.length = 0
  return deeds
}

describe('an account file', () => {
  const [flush, write] = ['flush .account-acme.json.tmp', 'write .account-acme.json.tmp']
  const [rename, remove] = ['rename account-acme.json', 'remove account-acme.json']

  it.each<[durability: Durability | undefined, written: string[], removed: string[]]>([
    [undefined, [write, rename], [remove]],
    ['rename', [write, rename], [remove]],
    ['fsync', [flush, write, rename, 'flush data'], [remove, 'flush data']],
  ])('with the durability %s is safe before a change of it is answered', async (durability, written, removed) => {
    const { store } = await open(durability)
    expect(await done(store.create(exampleAccount('acme')))).toEqual(written)
    expect(await done(applyUpdate(store, 'acme', watch('a.example')))).toEqual(written)
    expect(await done(replace(store, exampleAccount('acme')))).toEqual(written)
    expect(await done(store.delete('acme'))).toEqual(removed)
  })

  const DEEDS: Deed[] = ['write', 'rename']
  it.each(DEEDS)('leaves nothing of a write whose %s failed, and the next one takes its place', async (deed) => {
    const { store, folder } = await open('fsync')
    await store.create(exampleAccount('acme'))
    disk.failing.set(deed, 'EIO')
    const message = expect.stringContaining(`${join(folder, 'account-acme.json')} cannot be written (EIO: ${deed} `)
    await expect(applyUpdate(store, 'acme', watch('a.example'))).rejects.toMatchObject({ problem: 'unusable', message })
    expect(await storedDomainsOf(store)).toEqual([])
    expect(readdirSync(folder).toSorted()).toEqual(['.lock', 'account-acme.json'])
    disk.failing.clear()
    await applyUpdate(store, 'acme', watch('b.example'))
    await store.close()
    expect(await storedDomainsOf((await open('rename', folder)).store)).toEqual(['b.example'])
  })
})

it('a folder that is opened loses what killed processes left half-written, also of accounts that are gone', async () => {
  const folder = temporaryFolder()
  const foreign = ['.account.json.tmp', '.other.tmp', 'account-acme.json.tmp', '._account-acme.json']
  const leftover = ['.account-acme.json.tmp', '.account-gone.json.tmp', `.account~${'0'.repeat(64)}.json.tmp`]
  for (const name of [...foreign, ...leftover]) writeFileSync(join(folder, name), '{"format":')
  await open('rename', folder)
  expect(readdirSync(folder).toSorted()).toEqual(['.lock', ...foreign].toSorted())
})
