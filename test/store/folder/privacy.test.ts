import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { exampleAccount, SETTINGS, watch } from '../example-account.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function open(folder: string, warn?: (message: string) => void) {
  const store = await openFolderStore(folder, SETTINGS, { warn })
  onTestFinished(() => store.close())
  return store
}

describe('a folder of accounts', () => {
  it.each([0o000, 0o022, 0o077])('and all in it belong to its owner alone, with a umask of %i', async (mask) => {
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

  it('that others can look into stays as it is, with a warning that says how to change that', async () => {
    const folder = join(temporaryFolder(), "owner's")
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const warnings: string[] = []
    await open(folder, (message) => warnings.push(message))
    expect(modeOf(folder)).toBe('755')
    const command = `chmod 700 '${folder.replace("'", "'\\''")}'`
    expect(warnings).toEqual([`Other users of this machine can look into ${folder}; keep them out with: ${command}`])
  })

  it('that only its owner can use needs no warning, and neither does one that is made', async () => {
    const warnings: string[] = []
    const folder = temporaryFolder()
    await open(folder, (message) => warnings.push(message))
    await open(join(folder, 'made'), (message) => warnings.push(message))
    expect(warnings).toEqual([])
  })

  it('is written through no link that somebody has put in the place of a temporary file', async () => {
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
