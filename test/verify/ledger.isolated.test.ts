import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Ledger, readLedger } from '../../src/verify/ledger.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What was done with files, in order. */
const deeds = vi.hoisted((): string[] => [])
vi.mock('node:fs', async (original) => {
  const files = await original<typeof import('node:fs')>()
  const writeFileSync = (file: number, text: string) => {
    deeds.push(`write ${Object.keys(JSON.parse(text))[0]}`)
    files.writeFileSync(file, text)
  }
  const fsyncSync = (file: number) => {
    deeds.push(files.fstatSync(file).isDirectory() ? 'sync the folder' : 'sync')
    files.fsyncSync(file)
  }
  return { ...files, writeFileSync, fsyncSync }
})
beforeEach(() => void deeds.splice(0))

describe('the ledger of verify', () => {
  const head = { run: 'testrun1', target: 'http://127.0.0.1', digest: 'd' }
  const create = () => new Ledger(join(temporaryFolder(), 'ledger.json'), head)

  it('is on the disk with its name before the run begins', () => {
    create().close()
    expect(deeds).toEqual(['write ledger', 'sync', 'sync the folder'])
  })

  it.each([
    ['what was there before', { before: { domains: [], groups: [] } }],
    ['what a request may create', { creates: { domains: ['a.example'] } }],
    ['a group that was created', { group: 'g1' }],
  ] as const)('has %s on the disk at once: %j', (_, entry) => {
    const ledger = create()
    deeds.splice(0)
    ledger.write(entry)
    ledger.close()
    expect(deeds).toEqual([`write ${Object.keys(entry)[0]}`, 'sync'])
  })

  it('can be read although a full disk has cut its last line anywhere', async () => {
    const ledger = create()
    const { size: whole } = statSync(ledger.path)
    ledger.write({ creates: { group: { name: '\u00e9\u{1f600}', domains: [] } } })
    ledger.close()
    for (let { size } = statSync(ledger.path); size >= whole; size--) {
      truncateSync(ledger.path, size)
      expect(await readLedger(ledger.path), `${size} bytes`).toMatchObject({ head })
    }
  })
})
