import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CONTROL_DOCUMENT, compileControlApi } from '../../src/admin/document.ts'
import { Permitted } from '../../src/choices/permitted.ts'
import { readChoices, useChoices } from '../../src/contract/choices.ts'
import { compileContract } from '../../src/contract/contract.ts'
import { OWN_DOCUMENT } from '../../src/contract/document.ts'
import { linesOf } from '../../src/contract/lines.ts'
import { keptIn } from '../../src/contract/schema-compiler.ts'
import { compileStandalone } from '../../src/contract/standalone.ts'
import { parseYaml } from '../../src/contract/yaml.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { foresee } from '../../src/verify/foresight.ts'
import { isReadOnly, PROBES } from '../../src/verify/probes.ts'
import { ROOT } from '../support/program-process.ts'

const PREPARED = join(ROOT, 'dist/prepared')
const BUILT = pathToFileURL(join(ROOT, 'dist/index.js')).href

describe('the build prepares', () => {
  it.each<[string, Parameters<typeof compileStandalone>[0]]>([
    [OWN_DOCUMENT, (compilerFor) => compileContract({ validated: false }, compilerFor)],
    [CONTROL_DOCUMENT, (compilerFor) => compileControlApi({ validated: false }, compilerFor)],
  ])('of %s what reading and compiling it anew gives', async (path, compile) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(ROOT, path)))
      .digest('hex')
    const read = (ending: string) => readFileSync(join(PREPARED, digest + ending), 'utf8')
    const { source, validators } = await compileStandalone(compile)
    expect(JSON.parse(read('.json'))).toEqual(source)
    expect(read('.cjs')).toBe(validators)
  })

  it('what the questions of verify tell', async () => {
    const digest = createHash('sha256')
      .update(readFileSync(join(ROOT, OWN_DOCUMENT)))
      .digest('hex')
    const kept = JSON.parse(readFileSync(join(PREPARED, `${digest}.foresight.json`), 'utf8'))
    expect(Object.keys(kept)).toEqual(PROBES.map(({ id }) => id))
    for (const probe of await foresee(await readChoices([]))) {
      if (isReadOnly(probe, probe.rehearsed)) expect(kept[probe.id].tells, probe.id).toEqual(probe.tells)
    }
  })

  it('every validator that an exchange needs under any alternative, so that none is compiled', async () => {
    const digest = createHash('sha256')
      .update(readFileSync(join(ROOT, OWN_DOCUMENT)))
      .digest('hex')
    const kept = keptIn(`dist/prepared/${digest}.choices.cjs`)
    const missing: string[] = []
    await useChoices({ find: kept.find, note: (detail, name) => missing.push(`${detail} ${name}`) }, async (choices) =>
      (await Permitted.read(choices)).prepareChecks(),
    )
    expect(missing).toEqual([])
  })

  it('our document as it is written and its lines, so that a judgement parses no YAML', async () => {
    const text = readFileSync(join(ROOT, OWN_DOCUMENT), 'utf8')
    const digest = createHash('sha256').update(text).digest('hex')
    const read = (about: string) => JSON.parse(readFileSync(join(PREPARED, `${digest}.${about}.json`), 'utf8'))
    expect(read('written')).toEqual(await parseYaml(text, 'openapi.yaml'))
    const lineOf = await linesOf(text)
    const lines = Object.entries<number>(read('lines'))
    expect(lines.length).toBeGreaterThan(3000)
    expect(lines.filter(([pointer, line]) => lineOf(pointer) !== line)).toEqual([])
  })

  it('nothing else', () => {
    expect(readdirSync(PREPARED)).toHaveLength(9)
  })
})

describe('a start from the build', () => {
  it('loads nothing that only a changed document needs', async () => {
    const program = `
      import { createRequire } from 'node:module'
      import { startUnderstudy } from '${BUILT}'
      const understudy = await startUnderstudy()
      await fetch(understudy.baseUrl + '/domains', { headers: understudy.account.headers })
      await understudy.account.requests.list()
      await understudy.stop()
      console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
    const loaded = JSON.parse(stdout) as string[]
    const of = (name: string) => loaded.filter((path) => path.replaceAll('\\', '/').includes(`/node_modules/${name}/`))
    expect(of('ajv')).not.toEqual([])
    expect(of('@apidevtools/swagger-parser')).toEqual([])
    expect(of('ajv').filter((path) => !path.includes('runtime'))).toEqual([])
  })

  it('lists the commands and tells the version without what a server needs', () => {
    const importsOf = (path: string) =>
      [...readFileSync(join(ROOT, 'dist', path), 'utf8').matchAll(/^import .*from "(\..+)";$/gm)].map(
        ([, from]) => from,
      )
    expect(importsOf('cli.js')).toEqual(['./parts/command-line.js'])
    expect(importsOf('parts/command-line.js')).toEqual([])
  })

  it('answers as one from the sources does', async () => {
    const built = (await import(BUILT)) as { startUnderstudy: typeof startUnderstudy }
    const long = Array.from({ length: 1500 }, (_, index) => (index % 2 === 0 ? index : ''))
    const bodies: unknown[] = [
      ...[{}, [], 'text', { domains: 1 }, { domains: ['-', 'x.example'] }, { domains: long }, { more: null }],
      ...[{ name: '' }, { name: 'n'.repeat(101), domains: long }, { id: '0', domains: [], add_domains: [] }],
    ]
    const paths = [
      '/domains',
      '/dmarc',
      '/nowhere',
      ...['', '?id=', '?id=0', '?id=00000000'].map((id) => `/domaingroups${id}`),
    ]
    const requests = paths.flatMap((path) => [
      { method: 'GET', path, body: undefined },
      ...['POST', 'PATCH', 'DELETE'].flatMap((method) => bodies.map((body) => ({ method, path, body }))),
    ])
    async function answersOf(start: typeof startUnderstudy): Promise<string[]> {
      const service = await start({ now: '2026-01-15T09:00:00Z', frozen: true, enforceQuotas: false })
      onTestFinished(() => service.stop())
      const answers = []
      for (const { method, path, body } of requests) {
        const headers = { ...service.account.headers, 'content-type': 'application/json' }
        const content = body === undefined ? undefined : JSON.stringify(body)
        const response = await fetch(service.baseUrl + path, { method, headers, ...(content && { body: content }) })
        answers.push(`${method} ${path} ${content} ${response.status} ${await response.text()}`)
      }
      return answers
    }
    expect(await answersOf(built.startUnderstudy)).toEqual(await answersOf(startUnderstudy))
  })
})
