import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

/** Every kind of file that a user names: how a command reads it, and its exit code if the file cannot be used. */
const KINDS: [kind: string, args: (file: string) => string[], code?: number][] = [
  ['fixture', (file) => ['serve', '--port', '0', '--fixture', file]],
  ['fault sets', (file) => ['serve', '--port', '0', '--faults', file]],
  ['overlay', (file) => ['assumptions', '--overlay', file]],
  ['evidence', (file) => ['calibrate', '--evidence', file]],
  ['baseline', (file) => ['check', '--baseline', file, 'nowhere.har']],
  ['recording', (file) => ['check', file]],
  ['certificates', (file) => ['proxy', '--target', 'https://a.example', '--ca', file]],
  ['ledger', (file) => ['verify', '--sweep', file, '--base-url', 'http://127.0.0.1:9', '--api-key', 'k']],
]
/** JSON and YAML, but the content of no kind of file. */
const CONTENT = '[]\n'
const OTHER_ENCODINGS: readonly (readonly [name: string, content: Buffer, problem: RegExp])[] = [
  ['UTF-16', Buffer.from(`\ufeff${CONTENT}`, 'utf16le'), /is written in UTF-16; save it in UTF-8/],
  ['Latin-1', Buffer.from(`{"a":\n"caf\u00e9"}`, 'latin1'), /is not UTF-8 in line 2; save it in UTF-8/],
]

describe.each<(typeof KINDS)[number]>(KINDS)('a file: %s', (kind, args, refused = 2) => {
  async function outcomeOf(folder: string, content: Buffer | string) {
    const file = join(folder, 'account-x.json')
    writeFileSync(file, content)
    const { code, stderr } = await runInProcess(args(file))
    return { code, stderr }
  }

  it('may begin with a byte order mark', async ({ folder }) => {
    const plain = await outcomeOf(folder, CONTENT)
    expect(plain).toEqual({ code: refused, stderr: expect.not.stringMatching(/UTF|valid/) })
    expect(await outcomeOf(folder, `\ufeff${CONTENT}`)).toEqual(plain)
  })

  it.for(OTHER_ENCODINGS)('is refused in one line if it is in %s', async ([name, content, problem], { folder }) => {
    // Entries of a recording are lost one by one, and PowerShell writes recordings in UTF-16.
    if (kind === 'recording') return
    // A killed run may have cut a ledger within a character.
    if (name === 'Latin-1' && kind === 'ledger') return
    const { code, stderr } = await outcomeOf(folder, content)
    expect(code).toBe(refused)
    expect(stderr).toMatch(/^dmarc-understudy: .*account-x\.json: .*\n$/)
    expect(stderr).toMatch(problem)
  })
})

describe('the ready file', () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

  it('tells its owner alone where the server of that instance is and how to use it, until that stops', async ({
    serve,
    folder,
  }) => {
    const [path, precious] = [join(folder, 'ready.json'), join(folder, 'precious')]
    // As mktemp makes it.
    writeFileSync(path, '')
    writeFileSync(precious, 'precious')
    symlinkSync(precious, `${path}.${process.pid}.tmp`)
    const { baseUrl, apiKey, origin, stop, ended } = await serve(['--ready-file', path])
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    const { instance, ...facts } = read(path)
    expect(facts).toEqual({ base_url: baseUrl, admin_url: `${origin}/__admin`, api_key: apiKey, pid: process.pid })
    expect(instance).toMatch(/^[0-9a-f-]{36}$/)
    const health = (await (await fetch(`${facts.admin_url}/health`)).json()) as object
    expect(health).toEqual({ success: true, data: { status: 'ok', instance } })
    stop()
    await ended
    expect(readdirSync(folder)).toEqual(['precious'])
    expect(readFileSync(precious, 'utf8')).toBe('precious')
  })

  it('has, as the greeting, no address of a control plane that is switched off', async ({ serve, folder }) => {
    const { stdout } = await serve(['--ready-file', join(folder, 'ready.json'), '--no-admin'])
    expect(read(join(folder, 'ready.json')).admin_url).toBeNull()
    expect(stdout()).not.toContain('__admin')
  })

  it('of a run that was killed is gone before the next one is ready', async ({ folder }) => {
    const path = join(folder, 'ready.json')
    writeFileSync(path, '{"base_url": "http://127.0.0.1:1/api/v1", "instance": "of-yesterday"}')
    await expectRefusal(['serve', '--ready-file', path, '--fixture', 'nonsense'], 2, 'nonsense: …')
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
    const { ino, mtimeMs } = lstatSync(path)
    const message = /^--ready-file .*: exists and is no ready file; give another name$/
    await expectRefusal(['serve', '--ready-file', path], 2, message)
    expect(lstatSync(path)).toMatchObject({ ino, mtimeMs })
  })
})

describe('a data folder', () => {
  it.for<[args: string[], notes: string[]]>([
    [[], []],
    [
      ['--seed', '3', '--frozen', '--fixture', 'empty', '--plan', 'stone'],
      ['--seed 3', '--frozen true', '--fixture empty', '--plan stone'],
    ],
  ])(
    'keeps its account with its key, and the next start says that it heeds none of %j',
    async ([args, notes], { serve, folder }) => {
      const first = await serve(['--data', folder])
      first.stop()
      await first.ended
      const second = await serve(['--data', folder, '--log-level', 'silent', ...args])
      expect(second.apiKey).toBe(first.apiKey)
      second.stop()
      const { stderr } = await second.ended
      const lines = notes.map(
        (note) => `${note}: applies to new accounts only; the account in ${folder} stays as it is`,
      )
      expect(stderr.split('\n').filter(Boolean).toSorted()).toEqual(lines.toSorted())
    },
  )

  it('that is gone at the stop makes the program end with exit code 3 and one line', async ({ serve, folder }) => {
    const accounts = join(folder, 'accounts')
    const service = await serve(['--data', accounts, '--log-level', 'silent'])
    // Something to keep at the stop: the request is counted.
    expect((await service.request('/domains')).status).toBe(200)
    rmSync(accounts, { recursive: true })
    service.stop()
    const { code, stderr } = await service.ended
    expect(stderr).toMatch(/^dmarc-understudy: .*account-default\.json cannot be written \(ENOENT: [^\n]+\n$/)
    expect(code).toBe(3)
  })

  it('that knows of another key by its hash alone is served without telling it, and refused to run', async ({
    serve,
    folder,
  }) => {
    const first = await serve(['--data', folder, '--api-key', 'key_of_my_own'])
    first.stop()
    await first.ended
    const message = `--data ${folder}: only the hash of the key is kept, so the command cannot be given the key of the account; give --api-key`
    await expectRefusal(['run', '--data', folder, '--', 'true'], 2, message)
    const second = await serve(['--data', folder])
    expect(second.apiKey).toBe('the one that the account was made with; only its hash is kept')
    expect(second.curl).toContain('Bearer YOUR_KEY')
    expect((await second.request('/domains', { headers: { authorization: 'Bearer key_of_my_own' } })).status).toBe(200)
  })
})
