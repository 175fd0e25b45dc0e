import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type * as Files from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  checkTarget,
  findShared,
  readReportTarget,
  refuseReportTarget,
  writeReport,
} from '../../src/reports/targets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { report } from './sample-report.ts'

/** The functions that the file system refuses, with the code. The superuser, as whom tests may run, is refused nothing. */
const refusals = new Map<string, string>()
beforeEach(() => refusals.clear())

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>()
  function refuse(name: string): void {
    const code = refusals.get(name)
    if (code !== undefined) throw Object.assign(new Error(code), { code })
  }
  return {
    ...files,
    async rename(from: string, to: string) {
      refuse('rename')
      return files.rename(from, to)
    },
    async writeFile(path: string, text: string, options?: object) {
      // A disk that is full takes a part of a file.
      if (refusals.has('writeFile')) await files.writeFile(path, text.slice(0, 5), options)
      refuse('writeFile')
      return files.writeFile(path, text, options)
    },
  }
})

const TEXT = `${JSON.stringify(report().json, undefined, 2)}\n`
const writeTo = (file: string) => writeReport(report(), { format: 'json', file })

/** A file with the report of an earlier run, alone in its folder. */
function writeOld() {
  const folder = temporaryFolder()
  const file = join(folder, 'old.json')
  writeFileSync(file, 'old')
  chmodSync(file, 0o640)
  return { folder, file, node: statSync(file).ino }
}

describe('the target of a report', () => {
  it.each([
    ['json=report.json', 'json', 'report.json'],
    ['junit=a=b.xml', 'junit', 'a=b.xml'],
    ['html=/tmp/a folder/r', 'html', '/tmp/a folder/r'],
  ])('%j is read', (written, format, file) => {
    expect(readReportTarget(written)).toEqual({ format, file })
  })

  const OF = /^must be FORMAT=FILE, where FORMAT is json, junit, .+$/
  it.each<[written: string, reason: string | RegExp]>([
    ['JSON=report.json', 'did you mean json=report.json?'],
    ['jsonn', 'did you mean json=FILE?'],
    ['sarif=report.sarif', OF],
    ['report.json', OF],
    ['=report.json', OF],
    ['constructor=a', OF],
    ['json=', 'must name a file, such as json=report.json'],
    ['json=-', 'standard output belongs to the command; name a file'],
  ])('%j is refused: %s', (written, reason) => {
    expect(readReportTarget(written)).toBeUndefined()
    expect(refuseReportTarget(written)).toMatch(reason)
  })
})

describe('a report that is asked for', () => {
  it.each<[what: string, path: string, reason: string]>([
    ['in no folder', '/none/r', 'is in a folder that does not exist; create it, or name another file'],
    ['that is a folder', '', 'is a folder; name a file in it'],
    ['below a file', '/file/r', 'is below a file; name a file in a folder'],
    ['in a ring of links', '/a', 'cannot be written (ELOOP); name another file'],
    ['with a strange name', '/x\0y', 'cannot be written (ERR_INVALID_ARG_VALUE); name another file'],
    ['with a long name', `/${'a'.repeat(300)}`, 'cannot be written (ENAMETOOLONG); name another file'],
  ])('for a file %s is refused before the work, and fails after it', async (_, path, reason) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('a', join(folder, 'b'))
    symlinkSync('b', join(folder, 'a'))
    const bad = folder + path
    expect([await checkTarget(join(folder, 'good')), await checkTarget(bad)]).toEqual([undefined, reason])
    expect(readdirSync(folder)).not.toContain('good')
    expect(await writeTo(bad)).toEqual(expect.any(String))
  })

  it('with the file of another report is refused, however the name is written', async () => {
    const folder = temporaryFolder()
    symlinkSync(folder, join(folder, 'link'))
    const named = (name: string) => ({ source: name, file: join(folder, name) })
    const [one, same] = [named('r.json'), named('link/./r.json')]
    expect(await findShared([one, same])).toEqual({ earlier: one, later: same })
    expect(await findShared([one, same].map((each) => ({ ...each, isRead: true })))).toBeUndefined()
    const device = { source: 'a device', file: '/dev/null' }
    expect(await findShared([device, device])).toBeUndefined()
  })

  it('replaces an old file at once where a link leads, keeps its rights, and follows no link of its draft', async () => {
    const { folder, file, node } = writeOld()
    const other = join(temporaryFolder(), 'other')
    writeFileSync(other, 'other')
    symlinkSync(other, `${file}.${process.pid}.tmp`)
    symlinkSync('old.json', join(folder, 'link.json'))
    expect(await writeTo(join(folder, 'link.json'))).toBeUndefined()
    const { ino, mode } = statSync(file)
    expect([readFileSync(file, 'utf8'), ino === node, mode & 0o777]).toEqual([TEXT, false, 0o640])
    expect(readdirSync(folder).toSorted()).toEqual(['link.json', 'old.json'])
    expect([lstatSync(join(folder, 'link.json')).isSymbolicLink(), readFileSync(other, 'utf8')]).toEqual([
      true,
      'other',
    ])
  })

  it('streams into a pipe, and leaves it and a device in their places', async () => {
    const pipe = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    expect([await checkTarget(pipe), await checkTarget('/dev/null')]).toEqual([undefined, undefined])
    const files = await vi.importActual<typeof Files>('node:fs/promises')
    const reading = files.readFile(pipe, 'utf8')
    expect([await writeTo(pipe), await writeTo('/dev/null'), await reading]).toEqual([undefined, undefined, TEXT])
    expect([statSync(pipe).isFIFO(), statSync('/dev/null').isCharacterDevice()]).toEqual([true, true])
  })

  it('is written into an old file that is mounted alone, and leaves it and no draft where the disk is full', async () => {
    const { folder, file, node } = writeOld()
    refusals.set('writeFile', 'ENOSPC')
    expect(await writeTo(file)).toBe('finds the disk full; make room, or name a file elsewhere')
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['old', ['old.json']])
    refusals.clear()
    refusals.set('rename', 'EBUSY')
    expect(await writeTo(file)).toBeUndefined()
    expect([readFileSync(file, 'utf8'), statSync(file).ino, readdirSync(folder)]).toEqual([TEXT, node, ['old.json']])
  })
})
