import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

const SMALL = ['--domains', '12', '--groups', '3']

/** Runs the command, which must succeed without a word on standard error; its standard output. */
async function outputOf(...args: readonly string[]): Promise<string> {
  const { stdout, ...result } = await runInProcess(['fixture', ...args])
  expect(result).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('fixture', () => {
  it('writes a file that serve --fixture takes, and replaces none', async ({ folder, serve }) => {
    const path = join(folder, 'shop.json')
    writeFileSync(path, 'precious')
    const made = ['fixture', ...SMALL, '--seed', '7', '--out', 'shop.json']
    const refused = await runInProcess(made, { folder })
    expect([refused.code, readFileSync(path, 'utf8')]).toEqual([2, 'precious'])
    rmSync(path)
    expect(await runInProcess(made, { folder })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Wrote shop.json. Try it: npx dmarc-understudy serve --fixture shop.json\n',
    })
    const { domains, groups } = JSON.parse(readFileSync(path, 'utf8'))
    const names = domains.map(({ name }: { name: string }) => name)
    expect([names.length, groups.length]).toEqual([12, 3])

    const service = await serve(['--fixture', 'shop.json'], { folder })
    expect((await service.request('/domains')).body).toEqual({ success: true, data: { domains: names } })
    expect((await service.request('/domaingroups')).body).toMatchObject({ data: { groups, count: 3 } })
  })

  it('says in the file how it was made', async () => {
    const made = 'fixture --story isp --domains 12 --groups 3 --seed 9'
    const description = `Made by dmarc-understudy ${made}`
    const text = await outputOf(...made.split(' ').slice(1))
    expect(JSON.parse(text)).toMatchObject({ title: 'isp, 12 domains', description, seed: 9 })
  })
})
