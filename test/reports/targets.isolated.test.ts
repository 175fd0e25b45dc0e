import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type * as Files from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  checkTarget,
  findShared,
  readReportTarget,
  refuseReportTarget,
  writeReports,
} from '../../src/reports/targets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { report, SURROUNDINGS } from './sample-report.ts'

/** What the file system refuses: the function and the end of the path → the code. */
const refusals = new Map<string, string>()
beforeEach(() => refusals.clear())

function refuse(name: string, path: unknown): void {
  for (const [place, code] of refusals) {
    const [refused, end = ''] = place.split(' ')
    if (name === refused && String(path).endsWith(end)) throw Object.assign(new Error(code), { code })
  }
}

// The superuser, as whom the tests may run, is refused nothing.
vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>()
  return {
    ...files,
    async access(path: string, mode?: number) {
      refuse('access', path)
      return files.access(path, mode)
    },
    async rename(from: string, to: string) {
      refuse('rename', to)
      return files.rename(from, to)
    },
    async writeFile(path: string, text: string, options?: object) {
      // A disk that is full takes a part of a file.
      if (refusals.has('writeFile')) await files.writeFile(path, text.slice(0, 5), options)
      refuse('writeFile', path)
      return files.writeFile(path, text, options)
    },
  }
})

const TEXT = `${JSON.stringify(report().json, undefined, 2)}\n`
const writeTo = (...files: string[]) =>
  writeReports(
    report(),
    files.map((file) => ({ format: 'json', file })),
    SURROUNDINGS,
  )

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
    ['json=/tmp/a folder/r', 'json', '/tmp/a folder/r'],
  ])('%j is read', (written, format, file) => {
    expect(readReportTarget(written)).toEqual({ format, file })
  })

  const OF = /^must be FORMAT=FILE, where FORMAT is json, junit, .+$/
  it.each<[written: string, reason: string | RegExp]>([
    ['JSON=report.json', 'did you mean json=report.json?'],
    ['jsonn', 'did you mean json=FILE?'],
    ['pdf=report.pdf', OF],
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
  it.each<[what: string, pathIn: (folder: string) => string, reason: string]>([
    ['in no folder', (folder) => `${folder}/none/r`, 'its folder does not exist; create it, or name another file'],
    ['that is a folder', (folder) => folder, 'is a folder; name a file in it'],
    ['below a file', (folder) => `${folder}/file/r`, 'is below a file; name a file in a folder'],
    ['in a ring of links', (folder) => `${folder}/a`, 'is in a ring of links; name another file'],
    ['with a strange name', (folder) => `${folder}/x\0y`, 'has a name that no file can have; give another one'],
    ['with a long name', (folder) => join(folder, 'a'.repeat(300)), 'has a name that is too long; give a shorter one'],
  ])('for a file %s is refused before the work, and fails alone after it', async (_, pathIn, reason) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('a', join(folder, 'b'))
    symlinkSync('b', join(folder, 'a'))
    const [bad, good] = [pathIn(folder), join(folder, 'good.json')]
    expect([await checkTarget(good), await checkTarget(bad)]).toEqual([undefined, reason])
    expect(readdirSync(folder)).not.toContain('good.json')
    expect(await writeTo(bad, good)).toEqual([{ target: { format: 'json', file: bad }, reason }])
    expect(readFileSync(good, 'utf8')).toBe(TEXT)
  })

  it('with the file of another report is refused, however the name is written', async () => {
    const folder = temporaryFolder()
    symlinkSync(folder, join(folder, 'link'))
    symlinkSync('r.json', join(folder, 'other.json'))
    const named = (name: string) => ({ source: name, file: join(folder, name) })
    const [one, same, other] = [named('r.json'), named('link/./r.json'), named('other.json')]
    expect(await findShared([one, same])).toEqual({ earlier: one, later: same })
    expect(await findShared([other, one])).toEqual({ earlier: other, later: one })
  })

  it('replaces an old file at once, and keeps its rights', async () => {
    const { folder, file, node } = writeOld()
    expect(await writeTo(file)).toEqual([])
    const { ino, mode } = statSync(file)
    expect([readFileSync(file, 'utf8'), ino === node, mode & 0o777]).toEqual([TEXT, false, 0o640])
    expect(readdirSync(folder)).toEqual(['old.json'])
  })

  it('goes where a link leads, which stays, but not through one in the place of its draft', async () => {
    const { folder, file } = writeOld()
    symlinkSync('real.json', join(folder, 'link.json'))
    symlinkSync(file, join(folder, `real.json.${process.pid}.tmp`))
    await writeTo(join(folder, 'link.json'))
    expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe(TEXT)
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(folder).toSorted()).toEqual(['link.json', 'old.json', 'real.json'])
  })

  it('streams into a pipe, and leaves it and a device in their places', async () => {
    const pipe = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    expect([await checkTarget(pipe), await checkTarget('/dev/null')]).toEqual([undefined, undefined])
    const files = await vi.importActual<typeof Files>('node:fs/promises')
    expect(await Promise.all([files.readFile(pipe, 'utf8'), writeTo(pipe, '/dev/null')])).toEqual([TEXT, []])
    expect([statSync(pipe).isFIFO(), statSync('/dev/null').isCharacterDevice()]).toEqual([true, true])
    const device = { source: 'a device', file: '/dev/null' }
    expect(await findShared([device, device])).toBeUndefined()
  })

  it.each<[what: string, refusal: [place: string, code: string]]>([
    ['the folder may not be changed', ['access FOLDER', 'EACCES']],
    ['the file is mounted alone, and cannot be replaced', ['rename old.json', 'EBUSY']],
  ])('is written into an old file where %s', async (_, [place, code]) => {
    const { folder, file, node } = writeOld()
    refusals.set(place.replace('FOLDER', folder), code)
    expect(await checkTarget(file)).toBeUndefined()
    expect(await writeTo(file)).toEqual([])
    expect([readFileSync(file, 'utf8'), statSync(file).ino]).toEqual([TEXT, node])
    expect(readdirSync(folder)).toEqual(['old.json'])
  })

  const FORBIDDEN = 'may not be written by this user (EACCES); name another file'
  it.each<[place: string, code: string, reason: string]>([
    ['access new.json', 'EACCES', FORBIDDEN],
    ['access new.json', 'EROFS', 'is on a file system that is read-only; name another file'],
    ['access old.json', 'EACCES', FORBIDDEN],
    ['writeFile', 'ENOSPC', 'finds the disk full; make room, or name a file elsewhere'],
    ['writeFile', 'EDQUOT', 'finds the disk quota used up; make room, or name a file elsewhere'],
    ['writeFile', 'EIO', 'cannot be written (EIO); name another file'],
  ])('leaves the old file and no draft after %s %s: %s', async (place, code, reason) => {
    const { folder, file } = writeOld()
    const isNew = place.endsWith('new.json')
    const target = isNew ? join(folder, 'new.json') : file
    refusals.set(isNew ? `access ${folder}` : place, code)
    if (place !== 'writeFile') expect(await checkTarget(target)).toBe(reason)
    expect(await writeTo(target)).toMatchObject([{ reason }])
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(folder)).toEqual(['old.json'])
  })
})
