import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Ledger } from '../../src/verify/ledger.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What was done with files, in order. */
const deeds = vi.hoisted((): string[] => [])
vi.mock('node:fs', async (original) => {
  const files = await original<typeof import('node:fs')>()
  const writeSync = (file: number, bytes: Buffer) => {
    deeds.push(`write ${Object.keys(JSON.parse(bytes.toString()))[0]}`)
    return files.writeSync(file, bytes)
  }
  const fsyncSync = (file: number) => {
    deeds.push(files.fstatSync(file).isDirectory() ? 'sync the folder' : 'sync')
    files.fsyncSync(file)
  }
  return { ...files, writeSync, fsyncSync }
})
beforeEach(() => void deeds.splice(0))

describe('the ledger of verify', () => {
  const head = { run: 'testrun1', target: 'http://127.0.0.1', digest: 'd', suffix: 'example', writes: true }
  const create = () => Ledger.create(join(temporaryFolder(), 'ledger.json'), head)

  it('is on the disk with its name before the run begins', () => {
    create().close()
    expect(deeds).toEqual(['write ledger', 'sync', 'sync the folder'])
  })

  it.each([
    ['what was there before', { before: { domains: [], groups: [] } }, true],
    ['what a request may create', { creates: { domains: ['a.example'] } }, true],
    ['a group that was created', { group: 'g1' }, true],
    ['a probe that is done', { done: 'p1' }, false],
  ] as const)('has %s: on the disk at once: %j %s', (_, entry, isSynced) => {
    const ledger = create()
    deeds.splice(0)
    ledger.write(entry)
    ledger.close()
    expect(deeds).toEqual([`write ${Object.keys(entry)[0]}`, ...(isSynced ? ['sync'] : [])])
  })
})
