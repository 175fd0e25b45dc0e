import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type * as Files from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { checkTarget, type ReportTarget, writeReports } from '../../src/reports/targets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { report, SURROUNDINGS } from './sample-report.ts'

/** What the file system refuses: the function and the end of the path → the code. */
const refusals = new Map<string, string>()

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
    access: async (path: string, mode?: number) => {
      refuse('access', path)
      return files.access(path, mode)
    },
    rename: async (from: string, to: string) => {
      refuse('rename', to)
      return files.rename(from, to)
    },
    writeFile: async (path: string, text: string, options?: object) => {
      // A disk that is full takes a part of a file.
      if (refusals.has('writeFile')) await files.writeFile(path, text.slice(0, 5), options)
      refuse('writeFile', path)
      return files.writeFile(path, text, options)
    },
  }
})

const json = (file: string): ReportTarget => ({ format: 'json', file })
const TEXT = `${JSON.stringify(report().json, undefined, 2)}\n`
const FORBIDDEN = 'may not be written by this user (EACCES); name another file'

beforeEach(() => refusals.clear())

describe('a report', () => {
  it.each([
    ['EACCES', FORBIDDEN],
    ['EROFS', 'is on a file system that is read-only; name another file'],
  ])('in a folder that may not be changed is refused before the work: %s', async (code, reason) => {
    const folder = temporaryFolder()
    refusals.set(`access ${folder}`, code)
    const target = json(join(folder, 'new.json'))
    expect(await checkTarget(target.file)).toBe(reason)
  })

  it('is not written over a file that may not be changed', async () => {
    const file = join(temporaryFolder(), 'old.json')
    writeFileSync(file, 'old')
    refusals.set('access old.json', 'EACCES')
    expect(await checkTarget(file)).toBe(FORBIDDEN)
    expect(await writeReports(report(), [json(file)], SURROUNDINGS)).toMatchObject([{ reason: FORBIDDEN }])
    expect(readFileSync(file, 'utf8')).toBe('old')
  })

  it('is written into a file that may be changed in a folder that may not', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'old.json')
    writeFileSync(file, 'old')
    refusals.set(`access ${folder}`, 'EACCES')
    const { ino } = statSync(file)
    expect(await checkTarget(file)).toBeUndefined()
    expect(await writeReports(report(), [json(file)], SURROUNDINGS)).toEqual([])
    expect(readFileSync(file, 'utf8')).toBe(TEXT)
    expect(statSync(file).ino).toBe(ino)
  })

  it('is written into a file that is mounted alone, which cannot be replaced', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'old.json')
    writeFileSync(file, 'old')
    chmodSync(file, 0o600)
    refusals.set('rename old.json', 'EBUSY')
    expect(await writeReports(report(), [json(file)], SURROUNDINGS)).toEqual([])
    expect(readFileSync(file, 'utf8')).toBe(TEXT)
    expect(readdirSync(folder)).toEqual(['old.json'])
  })

  it.each([
    ['ENOSPC', 'finds the disk full; make room, or name a file elsewhere'],
    ['EDQUOT', 'finds the disk quota used up; make room, or name a file elsewhere'],
    ['EIO', 'cannot be written (EIO); name another file'],
  ])('that cannot be written whole leaves the old one and no draft: %s', async (code, reason) => {
    const folder = temporaryFolder()
    const file = join(folder, 'old.json')
    writeFileSync(file, 'old')
    refusals.set('writeFile', code)
    expect(await writeReports(report(), [json(file)], SURROUNDINGS)).toMatchObject([{ reason }])
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(folder)).toEqual(['old.json'])
  })
})
