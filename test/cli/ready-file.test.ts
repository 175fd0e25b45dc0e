import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { expectRefusal, it } from '../support/program.ts'

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

describe('the ready file', () => {
  it('tells its owner alone where the server of that instance is and how to use it, until that stops', async ({
    serve,
    folder,
  }) => {
    const path = join(folder, 'ready.json')
    // As mktemp makes it.
    writeFileSync(path, '')
    const { baseUrl, apiKey, origin, stop, ended } = await serve(['--ready-file', path])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['ready.json'])
    const facts = read(path)
    expect(facts).toEqual({
      base_url: baseUrl,
      admin_url: `${origin}/__admin`,
      api_key: apiKey,
      pid: process.pid,
      instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const health = (await (await fetch(`${facts.admin_url}/health`)).json()) as object
    expect(health).toEqual({ success: true, data: { status: 'ok', instance: facts.instance } })
    stop()
    await ended
    expect(existsSync(path)).toBe(false)
  })

  it('is written through no link that somebody has put in the place of its draft', async ({ serve, folder }) => {
    const path = join(folder, 'ready.json')
    const precious = join(folder, 'precious')
    writeFileSync(precious, 'precious')
    symlinkSync(precious, `${path}.${process.pid}.tmp`)
    await serve(['--ready-file', path])
    expect(read(path).pid).toBe(process.pid)
    expect(readFileSync(precious, 'utf8')).toBe('precious')
  })

  it('has, as the greeting, no address of a control plane that is switched off', async ({ serve, folder }) => {
    const { stdout } = await serve(['--ready-file', join(folder, 'ready.json'), '--no-admin'])
    expect(read(join(folder, 'ready.json')).admin_url).toBeNull()
    expect(stdout()).not.toContain('__admin')
  })

  it('of a run that was killed is gone before the next one is ready', async ({ start, folder }) => {
    const path = join(folder, 'ready.json')
    writeFileSync(path, '{"base_url": "http://127.0.0.1:1/api/v1", "instance": "of-yesterday"}')
    const { code, stderr } = await start(['serve', '--ready-file', path, '--fixture', 'nonsense']).ended
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('nonsense') })
    expect(existsSync(path)).toBe(false)
  })

  it('of a server that took over stays when the first one stops', async ({ serve, folder }) => {
    const path = join(folder, 'ready.json')
    const first = await serve(['--ready-file', path])
    const second = await serve(['--ready-file', path])
    first.stop()
    await first.ended
    expect(read(path).base_url).toBe(second.baseUrl)
  })

  it.for<[what: string, make: (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('/dev/null', path)],
    ['a file of the user', (path) => writeFileSync(path, '{"name": "client"}')],
  ])('that is %s is refused, and nothing is lost', async ([, make], { folder }) => {
    const path = join(folder, 'ready.json')
    make(path)
    const look = () => {
      const { ino, mode, size, mtimeMs } = lstatSync(path)
      return { ino, mode, size, mtimeMs }
    }
    const before = look()
    await expectRefusal(
      ['serve', '--ready-file', path],
      2,
      /^--ready-file .*: exists and is no ready file; give another name$/,
    )
    expect(look()).toEqual(before)
  })
})
