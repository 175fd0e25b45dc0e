import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { blocksOf } from '../support/documents.ts'
import { permitted } from '../support/permitted.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell, spawnShell } from '../support/program-process.ts'
import { sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'

const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8')
const [, section = ''] = /\n### Next\.js and bundlers\n([\s\S]*?)\n### /.exec(page) ?? []
/** The files of the recipe; the first line of each is its path. */
const recipe = new Map(
  blocksOf(section).map(({ content }) => [/^\/\/ (\S+)$/m.exec(content)?.[1] ?? '', content] as const),
)
const [CONFIGURATION = '', ROUTE = ''] = ['next.config.ts', 'app/api/v1/[...path]/route.ts']
/** What an application of Next.js has beside its routes. */
const LAYOUT = 'export default ({ children }: { children: React.ReactNode }) => <html><body>{children}</body></html>\n'
/** From the registry of npm: no other test needs them, so they are no packages of the project. */
const PACKAGES = 'next@15 react@19 react-dom@19 typescript@5 @types/node@20 @types/react@19 esbuild@0.28'
const environment = { NEXT_TELEMETRY_DISABLED: '1' }
const PATIENCE = 600_000

/** A project of a user, in which the packed program is installed. */
const project = mkdtempSync(join(tmpdir(), 'understudy-bundlers-'))

beforeAll(async () => {
  writeFileSync(join(project, 'package.json'), '{"name": "client", "version": "1.0.0", "private": true}')
  const { stdout } = await runShell(`npm pack --silent --ignore-scripts --pack-destination ${project}`)
  const install = `npm install --silent --no-audit --no-fund --prefer-offline ./${stdout.trim()} ${PACKAGES}`
  expect(await runShell(install, { folder: project })).toMatchObject({ code: 0, stderr: '' })
}, PATIENCE)
afterAll(() => rmSync(project, { recursive: true, force: true }))

function write(path: string, content: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), content)
}

/** Each operation once, and what the service refuses by itself; then what the changes have left. */
const REQUESTS: readonly [method: string, path: string, status: number, body?: object][] = [
  ['GET', '/dmarc', 200],
  ['POST', '/domains', 200, { domains: ['one.example', 'two.example'] }],
  ['DELETE', '/domains', 200, { domains: ['two.example'] }],
  ['POST', '/domaingroups', 200, { name: 'Lanterns', domains: ['one.example'] }],
  ['GET', '/domaingroups', 200],
  ['PUT', '/domains', 405],
  ['GET', '/none', 404],
  ['HEAD', '/domains', 200],
]

async function send(origin: string, method: string, path: string, body?: object) {
  const headers = { authorization: 'Bearer sandbox_next' }
  const received = await sendRequest(method, `${origin}/api/v1${path}`, body, headers)
  expectLawful(permitted.contract, method, path, received)
  return received
}

describe('an application of Next.js with the documented route', () => {
  it.for([
    ['next build && next start', 'next.config.ts of the recipe', recipe.get(CONFIGURATION)],
    ['next dev --turbopack', 'next.config.ts of the recipe', recipe.get(CONFIGURATION)],
    ['next dev', 'a next.config.ts that forgets the package', 'export default {}\n'],
  ] as const)('under %s, with %s, is the service', { timeout: PATIENCE }, async ([command, , configuration = '']) => {
    rmSync(join(project, '.next'), { recursive: true, force: true })
    write(CONFIGURATION, configuration)
    write(ROUTE, recipe.get(ROUTE) ?? '')
    write('app/layout.tsx', LAYOUT)
    const line = command.replaceAll('next ', 'node node_modules/next/dist/bin/next ')
    const options = { folder: project, environment }
    const next = spawnShell(line.replace(/(.* && |)(.*)/, '$1exec $2 --port 0'), options)
    try {
      const [, origin = ''] = await next.prints(/Local: +(http:\S+)[\s\S]*Ready in/)
      const statuses: number[] = []
      for (const [method, path, , body] of REQUESTS) statuses.push((await send(origin, method, path, body)).status)
      expect(statuses, next.stdout() + next.stderr()).toEqual(REQUESTS.map(([, , status]) => status))
      const { id } = (await send(origin, 'GET', '/domaingroups')).body.data.groups.at(-1)
      expect(await send(origin, 'PATCH', `/domaingroups?id=${id}`, { name: 'Lamps and lanterns' })).toMatchObject({
        status: 200,
      })
      expect(await send(origin, 'DELETE', `/domaingroups?id=${id}`)).toMatchObject({ status: 200 })
      expect((await send(origin, 'GET', '/domains')).body.data.domains).toContain('one.example')
    } finally {
      next.stop()
      await next.ended
    }
  })
})

const PROGRAM = `import { startUnderstudy } from 'dmarc-understudy'
startUnderstudy({ listen: false }).then(async (service) => {
  const { status } = await service.fetch(service.baseUrl + '/domains', { headers: service.account.headers })
  console.log(status, (await service.verdict()).passed)
  await service.stop()
})
`

/** The same for CommonJS. */
const REQUIRING = PROGRAM.replace(/import (.*) from (.*)/, 'const $1 = require($2)')

function bundle(options: string, output = 'program.mjs', program = PROGRAM) {
  write('program.mjs', program)
  const line = `node_modules/.bin/esbuild program.mjs --bundle --platform=node --log-level=warning`
  return runShell(`${line} --outfile=out/${output} ${options}`, { folder: project })
}

describe('a program that esbuild has bundled', () => {
  it.for([
    ['--format=esm --external:dmarc-understudy', 'program.mjs'],
    ['--format=esm --packages=external', 'program.mjs'],
    ['--format=cjs --external:dmarc-understudy', 'program.cjs'],
    ['--format=esm', 'program.mjs'],
    ['--format=cjs', 'program.cjs', REQUIRING],
  ] as const)('with %s runs', async ([options, output, program]) => {
    expect(await bundle(options, output, program)).toMatchObject({ code: 0, stderr: '' })
    const result = await runShell(`node out/${output}`, { folder: project })
    expect(result).toEqual({ code: 0, stdout: '200 true\n', stderr: '' })
  })

  it.for([
    ['--format=esm', 'program.mjs', PROGRAM],
    ['--format=cjs', 'program.cjs', REQUIRING],
  ] as const)(
    'with %s says in one sentence what to do where the package is not installed',
    async ([options, output, program], { folder }) => {
      await bundle(options, output, program)
      cpSync(join(project, 'out', output), join(folder, output))
      const { code, stdout, stderr } = await runShell(`node ${output}`, { folder })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(
        /dmarc-understudy does not find its own files, .*\. Keep it out of the bundle, and install /,
      )
      expect(stderr).toContain("serverExternalPackages: ['dmarc-understudy']; esbuild: --external:dmarc-understudy;")
      expect(stderr).not.toMatch(/^ +at /m)
    },
  )
})
