import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Ledger, readLedger } from '../../src/verify/ledger.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What was done with files, in order. */
const deeds = vi.hoisted((): string[] => [])
vi.mock('node:fs', async (original) => {
  const files = await original<typeof import('node:fs')>()
  const appendFileSync = (path: string, text: string, options: { flush: boolean }) => {
    deeds.push(`${options.flush ? 'sync' : 'write'} ${Object.keys(JSON.parse(text))[0]}`)
    files.appendFileSync(path, text, options)
  }
  const fsyncSync = (file: number) => {
    deeds.push(`sync ${files.fstatSync(file).isDirectory() ? 'the folder' : 'a file'}`)
    files.fsyncSync(file)
  }
  return { ...files, appendFileSync, fsyncSync }
})
beforeEach(() => void deeds.splice(0))

describe('the ledger of verify', () => {
  const head = { run: 'testrun1', target: 'http://127.0.0.1', digest: 'd' }
  const create = () => new Ledger(join(temporaryFolder(), 'ledger.json'), head)

  it('is on the disk with its name before the run begins, and has each line there at once', () => {
    const ledger = create()
    ledger.write({ before: { domains: [], groups: [] } })
    ledger.write({ creates: { domains: ['a.example'] } })
    ledger.write({ group: 'g1' })
    expect(deeds).toEqual(['sync ledger', 'sync the folder', 'sync before', 'sync creates', 'sync group'])
  })

  it('can be read although a full disk has cut its last line anywhere', async () => {
    const ledger = create()
    const { size: whole } = statSync(ledger.path)
    ledger.write({ creates: { domains: [], group: '\u00e9\u{1f600}' } })
    for (let { size } = statSync(ledger.path); size >= whole; size--) {
      truncateSync(ledger.path, size)
      expect(await readLedger(ledger.path), `${size} bytes`).toMatchObject({ head })
    }
  })
})
