import { closeSync, copyFileSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { executable, HAS_EXECUTABLE, spawnAlone, spawnExecutable } from '../support/executable.ts'
import { ROOT, spawnProgram } from '../support/program-process.ts'
import { HAS_REDIS, startRedis } from '../support/redis-server.ts'
import type { RunningProgram } from '../support/running-program.ts'
import { socketDoor, tellReference } from '../support/story-doors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { STORY_ARGUMENTS, STORY_OPTIONS, tellStory } from '../support/told-story.ts'

const BASE_URL = /http:\S+\/api\/v1/
const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
const AUTHORIZED = { authorization: `Bearer ${STORY_OPTIONS.apiKey}` }
/** A client that asks for the domains, as a shell does. */
const CLIENT = 'curl -fsS -H "Authorization: Bearer $UNDERSTUDY_API_KEY" "$UNDERSTUDY_BASE_URL/domains"'

async function resultOf(...args: string[]) {
  return (await spawnExecutable(args)).ended
}

function doorOf(baseUrl: string) {
  return socketDoor({ baseUrls: [baseUrl], adminUrl: `${new URL(baseUrl).origin}/__admin` })
}

async function groupsOf(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/domaingroups`, { headers: AUTHORIZED })
  return response.text()
}

async function startOf(program: RunningProgram): Promise<string> {
  onTestFinished(async () => {
    program.stop()
    await program.ended
  })
  return (await program.prints(BASE_URL))[0]
}

describe.skipIf(!HAS_EXECUTABLE)('the executable', { concurrent: false }, () => {
  beforeAll(executable)

  it('tells its version and that of the Node.js in it', async () => {
    const { code, stdout } = await resultOf('--version')
    expect([code, stdout]).toEqual([0, `${VERSION} (Node.js 26.10.0)\n`])
  })

  it('gives the licences of everything in it', async () => {
    const { stdout } = await resultOf('--licenses')
    const named = ['contributors', 'Node.js', 'lowdb', '@faker-js/faker', 'ajv', 'OpenSSL']
    expect(named.filter((name) => !stdout.includes(name))).toEqual([])
  })

  it.each([
    'serve',
    'run',
    'vary',
    'explore',
    'verify',
    'check',
    'proxy',
    'calibrate',
    'fixture',
    'assumptions',
    'mcp',
  ])('has the command %s', async (command) => {
    const { code, stdout, stderr } = await resultOf(command, '--help')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: dmarc-understudy ${command}`)
  })

  it('tells the story of all doors with the same bytes', async () => {
    const args = ['serve', '--port', '0', '--log-level', 'silent', ...STORY_ARGUMENTS]
    const told = await tellStory(doorOf(await startOf(await spawnExecutable(args))))
    expect(told).toEqual(await tellReference())
  })

  it('serves the dashboard, keeps its data in a folder, and ends when it is told to', async () => {
    const folder = temporaryFolder()
    const args = ['serve', '--port', '0', '--data', folder, ...STORY_ARGUMENTS]
    const program = await spawnExecutable(args)
    const [baseUrl] = await program.prints(BASE_URL)
    const page = await fetch(new URL('/__admin/', baseUrl), { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('<script type="module">')
    await tellStory(doorOf(baseUrl))
    program.stop()
    expect((await program.ended).code).toBe(0)
    const again = await startOf(await spawnExecutable(args))
    expect(await groupsOf(again)).toContain('Group 3')
  })

  it.skipIf(!HAS_REDIS)('shares a Redis with the package', async () => {
    const { url } = await startRedis()
    const args = ['serve', '--port', '0', '--store', url, ...STORY_ARGUMENTS]
    const own = await startOf(await spawnExecutable(args))
    await tellStory(doorOf(own))
    const other = await startOf(spawnProgram(args))
    expect(await groupsOf(other)).toContain('Group 3')
  })

  it('runs the tests of a client, which find the address, and judges them', async () => {
    const { code, stdout, stderr } = await resultOf('run', '--', 'sh', '-c', CLIENT)
    expect(stdout).toContain('"success":true')
    expect([code, stderr]).toEqual([0, expect.stringContaining('none of them violates the contract')])
  })

  it('judges the traffic through its proxy in a thread', async () => {
    const target = await startOf(await spawnExecutable(['serve', '--port', '0', ...STORY_ARGUMENTS]))
    const proxy = await spawnExecutable(['proxy', '--port', '0', '--target', target])
    const [through] = await proxy.prints(BASE_URL)
    await fetch(`${through}/domains`, { headers: AUTHORIZED })
    proxy.stop('SIGINT')
    const { stdout, stderr } = await proxy.ended
    expect(stdout + stderr).toMatch(/1 exchange/)
  })

  it('uses an overlay, asks a service and reads a recording', async () => {
    const overlay = join(temporaryFolder(), 'overlay.yaml')
    const target = await startOf(await spawnExecutable(['serve', '--port', '0', ...STORY_ARGUMENTS]))
    const verified = await resultOf('verify', '--base-url', target, '--api-key', STORY_OPTIONS.apiKey, '--read-only')
    expect(verified.stderr).not.toContain(' at ')
    expect(verified.code).toBeLessThan(2)
    writeFileSync(
      overlay,
      'overlay: 1.0.0\ninfo: { title: none, version: "1" }\nactions:\n  - target: $.info\n    update: { title: Other }\n',
    )
    const assumed = await resultOf('assumptions', '--overlay', overlay)
    expect([assumed.code, assumed.stderr]).toEqual([0, ''])
  })

  it('that is damaged says so in one sentence', async () => {
    const copy = join(temporaryFolder(), 'damaged')
    copyFileSync(await executable(), copy)
    // An asset is inside as it is.
    const place = readFileSync(copy).indexOf(readFileSync(join(ROOT, 'openapi.yaml')).subarray(0, 4000))
    const file = openSync(copy, 'r+')
    writeSync(file, '#', place + 2000)
    closeSync(file)
    const { code, stdout, stderr } = await spawnAlone(copy, ['serve']).ended
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toBe(
      'dmarc-understudy: this executable is damaged (openapi.yaml is not as it was built); get it again, and compare it with SHA256SUMS\n',
    )
  })

  it('is one file of at most 135 MB', async () => {
    expect(statSync(await executable()).size).toBeLessThan(135_000_000)
  })
})
