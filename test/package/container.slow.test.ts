import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { executable, HAS_EXECUTABLE } from '../support/executable.ts'
import { ROOT } from '../support/program-process.ts'
import { follow, type RunningProgram } from '../support/running-program.ts'
import { socketDoor, tellReference } from '../support/story-doors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { STORY_ARGUMENTS, tellStory } from '../support/told-story.ts'

interface Storage {
  places: readonly string[]
  buildah(...args: string[]): string
  close(): Promise<void>
}

interface Packaging {
  makeContext(architecture: string, executable: string, folder: string): Promise<void>
  openStorage(): Promise<Storage>
  buildImage(storage: Storage, architecture: string, context: string, name: string): void
}

/** As root, buildah needs nothing from the system: it changes the root folder and the user. */
const HAS_BUILDAH = HAS_EXECUTABLE && process.getuid?.() === 0 && spawnSync('buildah', ['--version']).status === 0
const BASE_URL = /http:\S+\/api\/v1/
const USER = 65532
const TOKEN = 'token-of-the-container'

describe.skipIf(!HAS_BUILDAH)('the container', { concurrent: false }, () => {
  let storage: Storage
  let container: string
  let context: string

  beforeAll(async () => {
    const packaging = (await import(pathToFileURL(join(ROOT, 'packaging/container.mjs')).href)) as Packaging
    context = mkdtempSync(join(tmpdir(), 'understudy-context-'))
    const architecture = process.arch === 'x64' ? 'amd64' : 'arm64'
    storage = await packaging.openStorage()
    await packaging.makeContext(architecture, await executable(), context)
    packaging.buildImage(storage, architecture, context, 'understudy')
    container = storage.buildah('from', 'understudy').trim()
  }, 300_000)

  afterAll(async () => {
    rmSync(context, { recursive: true, force: true })
    await storage.close()
  })

  /** Runs it as its image says, with a folder at /kept: at /data, buildah itself puts the volume of the image. */
  function run(
    args: readonly string[],
    { data, token = TOKEN }: { data?: string; token?: string } = {},
  ): RunningProgram {
    const { entry } = configuration()
    const options = [...(token === '' ? [] : ['--env', `DMARC_UNDERSTUDY_ADMIN_TOKEN=${token}`])]
    if (data !== undefined) options.push('--volume', data)
    const command = ['run', '--isolation', 'chroot', ...options, container, '--', ...entry, ...args]
    return follow(spawn('buildah', [...storage.places, ...command], { stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  function configuration() {
    const { OCIv1 } = JSON.parse(storage.buildah('inspect', '--type', 'image', 'understudy'))
    const { User: user, ExposedPorts: ports, Volumes: volumes, Entrypoint: entry, Cmd: command } = OCIv1.config
    return { user, ports: Object.keys(ports), volumes: Object.keys(volumes), entry, command }
  }

  /** A folder that the user of the container may write. */
  function volume(): string {
    const folder = temporaryFolder()
    chownSync(folder, USER, USER)
    return folder
  }

  it('is the executable, which a user without rights starts on port 4010 with a volume', () => {
    expect(configuration()).toEqual({
      user: `${USER}:${USER}`,
      ports: ['4010/tcp'],
      volumes: ['/data'],
      entry: ['/dmarc-understudy'],
      command: ['serve', '--data', '/data'],
    })
  })

  it('asks for a token, because others can reach it', async () => {
    const { code, stderr } = await run(['serve'], { token: '' }).ended
    expect(code).toBe(2)
    expect(stderr.split('\n')[0]).toBe(
      'dmarc-understudy: DMARC_UNDERSTUDY_HOST 0.0.0.0: others can reach this address, so give --admin-token TOKEN or --no-admin',
    )
  })

  it('tells the story of all doors with the same bytes, is not root, writes nowhere else, and keeps its data at SIGTERM', async () => {
    const data = volume()
    const root = storage.buildah('mount', container).trim()
    const before = listed(root)
    const options = ['serve', '--port', '0', '--log-level', 'silent', ...STORY_ARGUMENTS]
    const kept = ['--data', '/kept', '--ready-file', '/kept/ready.json']
    const program = run([...options, ...kept], { data: `${data}:/kept` })
    const [baseUrl] = await program.prints(BASE_URL)
    const { pid } = JSON.parse(readFileSync(join(data, 'ready.json'), 'utf8')) as { pid: number }
    expect(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]).toBe(`${USER}`)

    const adminUrl = `${new URL(baseUrl).origin}/__admin`
    const told = await tellStory(socketDoor({ baseUrls: [baseUrl], adminUrl, token: TOKEN }))
    expect(told).toEqual(await tellReference())

    process.kill(pid, 'SIGTERM')
    expect((await program.ended).code).toBe(0)
    expect(readdirSync(data)).toContainEqual(expect.stringMatching(/\.json$/))
    expect(readdirSync(data)).not.toContain('ready.json')
    expect(listed(root)).toEqual(before)
  })

  it('says in one sentence that it cannot write its volume', async () => {
    const data = temporaryFolder()
    chmodSync(data, 0o755)
    const { code, stdout, stderr } = await run(['serve', '--data', '/kept'], { data: `${data}:/kept:ro` }).ended
    expect(stderr.split('\n')[0]).toMatch(/^dmarc-understudy: \/kept.*(?:EROFS|EACCES)/)
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).not.toContain('    at ')
  })
})

/** All files but those of the volumes, each with its owner and what others may do. */
function listed(root: string): string[] {
  const volumes = ['(', '-name', 'data', '-o', '-name', 'kept', ')', '-prune']
  const { stdout } = spawnSync('find', [root, '-mindepth', '1', ...volumes, '-o', '-printf', '%P %U %m\n'], {
    encoding: 'utf8',
  })
  const files = stdout.trim().split('\n').sort()
  expect(files.filter((line) => !/ 0 [0-7]*[0145]$/.test(line) && !line.includes('.so'))).toEqual([])
  return files
}
