import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FORMAT_NAMES } from '../../src/reports/formats.ts'
import {
  checkTarget,
  findShared,
  type NamedFile,
  type ReportTarget,
  readReportTarget,
  refuseReportTarget,
  writeReports,
} from '../../src/reports/targets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { report, SURROUNDINGS } from './sample-report.ts'

const json = (file: string): ReportTarget => ({ format: 'json', file })
const TEXT = `${JSON.stringify(report().json, undefined, 2)}\n`
describe('the target of a report', () => {
  it.each<[written: string, target: ReportTarget]>([
    ['json=report.json', json('report.json')],
    ['junit=r.xml', { format: 'junit', file: 'r.xml' }],
    ['json=a=b.json', json('a=b.json')],
    ['json=/tmp/a folder/r', json('/tmp/a folder/r')],
    ['json=-x', json('-x')],
  ])('%j is read', (written, target) => {
    expect(readReportTarget(written)).toEqual(target)
  })

  it.each<[written: string, reason: string]>([
    ['jsn=report.json', 'did you mean json=report.json?'],
    ['JSON=report.json', 'did you mean json=report.json?'],
    ['jsonn', 'did you mean json=FILE?'],
    ['pdf=report.pdf', `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`],
    ['report.json', `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`],
    ['', `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`],
    ['=report.json', `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`],
    ['constructor=a', `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`],
    ['json', 'must name a file, such as json=report.json'],
    ['json=', 'must name a file, such as json=report.json'],
    ['json=-', 'standard output belongs to the command; name a file'],
  ])('%j is refused: %s', (written, reason) => {
    expect(readReportTarget(written)).toBeUndefined()
    expect(refuseReportTarget(written)).toBe(reason)
  })
})

describe('a report that is asked for', () => {
  it('is checked without leaving anything behind', async () => {
    const folder = temporaryFolder()
    expect(await checkTarget(join(folder, 'r.json'))).toBeUndefined()
    expect(readdirSync(folder)).toEqual([])
  })

  it.each<[what: string, pathIn: (folder: string) => string, reason: string]>([
    [
      'in no folder',
      (folder) => join(folder, 'none/r.json'),
      'its folder does not exist; create it, or name another file',
    ],
    ['that is a folder', (folder) => folder, 'is a folder; name a file in it'],
    ['below a file', (folder) => join(folder, 'file/r.json'), 'is below a file; name a file in a folder'],
    ['in a ring of links', (folder) => join(folder, 'a'), 'is in a ring of links; name another file'],
    ['with a strange name', (folder) => join(folder, 'x\0y'), 'has a name that no file can have; give another one'],
    ['with a long name', (folder) => join(folder, 'a'.repeat(300)), 'has a name that is too long; give a shorter one'],
  ])('for a file %s is refused before the work, and fails alone after it', async (_, pathIn, reason) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('a', join(folder, 'b'))
    symlinkSync('b', join(folder, 'a'))
    const [bad, good] = [json(pathIn(folder)), json(join(folder, 'good.json'))]
    expect([await checkTarget(good.file), await checkTarget(bad.file)]).toEqual([undefined, reason])
    expect(await writeReports(report(), [bad, good], SURROUNDINGS)).toEqual([{ target: bad, reason }])
    expect(readFileSync(good.file, 'utf8')).toBe(TEXT)
  })

  it('with the file of another report is refused, however the name is written', async () => {
    const folder = temporaryFolder()
    symlinkSync(folder, join(folder, 'link'))
    const [one, same, other] = ['r.json', 'link/./r.json', 'other.json'].map((name) => {
      return { source: name, file: join(folder, name) }
    }) as [NamedFile, NamedFile, NamedFile]
    symlinkSync('r.json', other.file)
    expect(await findShared([one, same])).toEqual({ earlier: one, later: same })
    expect(await findShared([other, one])).toEqual({ earlier: other, later: one })
  })

  it('replaces an old file at once and keeps its rights', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'r.json')
    writeFileSync(file, 'old')
    chmodSync(file, 0o640)
    const before = statSync(file).ino
    expect(await writeReports(report(), [json(file)], SURROUNDINGS)).toEqual([])
    expect(readFileSync(file, 'utf8')).toBe(TEXT)
    expect(statSync(file).ino).not.toBe(before)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder)).toEqual(['r.json'])
  })

  it('goes where a link leads, and the link stays', async () => {
    const folder = temporaryFolder()
    symlinkSync('real.json', join(folder, 'link.json'))
    await writeReports(report(), [json(join(folder, 'link.json'))], SURROUNDINGS)
    expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe(TEXT)
    expect(readdirSync(folder).toSorted()).toEqual(['link.json', 'real.json'])
  })

  it('is not written through a link that somebody has put in the place of its draft', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'precious'), 'precious')
    symlinkSync(join(folder, 'precious'), join(folder, `r.json.${process.pid}.tmp`))
    await writeReports(report(), [json(join(folder, 'r.json'))], SURROUNDINGS)
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('precious')
    expect(readFileSync(join(folder, 'r.json'), 'utf8')).toBe(TEXT)
  })

  it('streams into a pipe and leaves it in its place', async () => {
    const pipe = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    const target = json(pipe)
    expect(await checkTarget(target.file)).toBeUndefined()
    const [text, failures] = await Promise.all([readFile(pipe, 'utf8'), writeReports(report(), [target], SURROUNDINGS)])
    expect({ text, failures }).toEqual({ text: TEXT, failures: [] })
    expect(statSync(pipe).isFIFO()).toBe(true)
  })

  it('leaves a device in its place', async () => {
    const device = { source: 'a device', file: '/dev/null' }
    expect([await checkTarget('/dev/null'), await findShared([device, device])]).toEqual([undefined, undefined])
    expect(await writeReports(report(), [json('/dev/null')], SURROUNDINGS)).toEqual([])
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })
})
