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
import { shorten } from '../../src/ground/show.ts'
import { expectRefusal, it } from '../support/program.ts'

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

describe('the ready file', () => {
  it('says where the server is and how to use it, and the server of that instance answers', async ({
    serve,
    folder,
  }) => {
    const path = join(folder, 'ready.json')
    const { baseUrl, apiKey, origin } = await serve(['--ready-file', path])
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
  })

  it('can be read by its owner only, because it holds a key, and leaves no other file', async ({ serve, folder }) => {
    const path = join(folder, 'ready.json')
    await serve(['--ready-file', path])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['ready.json'])
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

  it('has no address of a control plane that is switched off', async ({ serve, folder }) => {
    await serve(['--ready-file', join(folder, 'ready.json'), '--no-admin'])
    expect(read(join(folder, 'ready.json')).admin_url).toBeNull()
  })

  it('is gone after the stop', async ({ serve, folder }) => {
    const path = join(folder, 'ready.json')
    const service = await serve(['--ready-file', path])
    service.stop()
    await service.ended
    expect(existsSync(path)).toBe(false)
  })

  it('of a run that was killed is gone before the next one is ready', async ({ start, folder }) => {
    const path = join(folder, 'ready.json')
    writeFileSync(path, '{"base_url": "http://127.0.0.1:1/api/v1", "instance": "of-yesterday"}')
    const { code, stderr } = await start(['serve', '--ready-file', path, '--fixture', 'nonsense']).ended
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('nonsense') })
    expect(existsSync(path)).toBe(false)
  })

  it('replaces an empty file, as mktemp makes it', async ({ serve, folder }) => {
    writeFileSync(join(folder, 'ready.json'), '')
    const { baseUrl } = await serve(['--ready-file', join(folder, 'ready.json')])
    expect(read(join(folder, 'ready.json')).base_url).toBe(baseUrl)
  })

  it('of a server that took over stays when the first one stops', async ({ serve, folder }) => {
    const path = join(folder, 'ready.json')
    const first = await serve(['--ready-file', path])
    const second = await serve(['--ready-file', path])
    first.stop()
    await first.ended
    expect(read(path).base_url).toBe(second.baseUrl)
  })

  it('in a folder that does not exist is refused', async ({ folder }) => {
    const path = join(folder, 'none', 'ready.json')
    const remedy = 'cannot be written (ENOENT); give a file in a folder that exists'
    await expectRefusal(['serve', '--ready-file', path], 2, `--ready-file ${shorten(path)}: ${remedy}`)
  })

  it.for<[what: string, make: (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('/dev/null', path)],
    ['a file of the user', (path) => writeFileSync(path, '{"name": "client"}')],
  ])('that is %s is refused, and nothing is lost', async ([, make], { folder, start }) => {
    const path = join(folder, 'ready.json')
    make(path)
    const look = () => {
      const { ino, mode, size, mtimeMs } = lstatSync(path)
      return { ino, mode, size, mtimeMs }
    }
    const before = look()
    const { code, stderr } = await start(['serve', '--ready-file', path]).ended
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^dmarc-understudy: --ready-file .*: exists and is no ready file; give another name\n$/,
      ),
    })
    expect(look()).toEqual(before)
  })
})
