import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** The files of the program: path below `src/` → text. */
type Sources = ReadonlyMap<string, string>
type Check = (sources: Sources) => string[]

/**
 * The folders of src, and the entry points, from the top down. A part imports only from the levels below its own, so the parts
 * of one level do not import each other.
 */
const LEVELS: readonly (readonly string[])[] = [
  ['cli.ts', 'index.ts', 'vitest.mts', 'node-test.ts', 'express.ts', 'dashboard'],
  ['cli'],
  ['trials', 'verify', 'proxy', 'mcp'],
  ['server', 'evidence'],
  ['library'],
  ['service', 'admin', 'reports'],
  ['faults', 'explain', 'accounts'],
  ['judge'],
  ['coverage', 'exchanges'],
  ['journal'],
  ['behaviour'],
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
const DESCRIBING = ['contract', 'coverage', 'explain', 'journal', 'domain']
/** Packages and modules of Node.js that are the business of some parts only. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  express: ['server', 'admin'],
  lowdb: ['store'],
  '@redis/client': ['store'],
  'node:child_process': ['trials'],
}
/** Packages that cost time at the start and are not needed by every command, or are no CommonJS. */
const LAZY = /^(express|ajv|@faker-js|@apidevtools|js-yaml|json-p3|lowdb|@redis|@modelcontextprotocol\/server)(\/|$)/
/** Time and chance, which only the clocks ask for. */
const AMBIENT =
  /\bDate\s*\.\s*now\b|\bnew\s+Date\b(?:\s*\(\s*\)|\s*(?![\s(]))|\bMath\s*\.\s*random\b|\bperformance\s*\.\s*now\b|\bprocess\s*\.\s*(?:hrtime|nextTick)\b/
const CLOCKS = ['ground/timers.ts', 'dashboard/data.ts']
/** What a command prints leaves through a terminal that hides secrets; only these files know the real one. */
const PRINTING = /\bconsole\s*\.|\bprocess\s*\.\s*std(?:out|err)\b/
const TERMINALS = ['cli/terminal.ts', 'cli/log.ts']
const VAGUE_NAMES = /^(utils?|helpers?|managers?|services|common)$/
/** A variable of a module, or a collection that a module could use as a cache. */
const MODULE_STATE =
  /^(?:export )?(?:(?:let|var)\s+\w+|const\s+\w+[^=\n]*=\s*new (?:Weak)?(?:Map|Set)\s*(?:<[^\n]*>)?\(\))/m

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
const isRelative = (specifier: string) => specifier.startsWith('.')
const targetOf = (path: string, specifier: string) => normalize(join(dirname(path), specifier))

/** Imports that do not go down, or of a package that is not the business of the part. */
const wrongImports: Check = (sources) =>
  [...sources].flatMap(([path, source]) => {
    const part = partOf(path)
    if (levelOf(part) < 0) return [`${path} belongs to no level`]
    return importsOf(source).flatMap(({ specifier, kind }) => {
      const wrong = [`${path} imports ${specifier}`]
      if (!isRelative(specifier)) {
        const isLibrary = specifier === 'immutable' || (path === 'domain/immutable.ts' && specifier === 'node:module')
        if (part === 'domain') return isLibrary ? [] : wrong
        const owners = Object.keys(PACKAGES).filter((name) => `${specifier}/`.startsWith(`${name}/`))
        return owners.every((name) => PACKAGES[name]?.includes(part)) ? [] : wrong
      }
      const target = partOf(targetOf(path, specifier))
      const mayGoDown = part !== PAGE || (path === PAGE_TYPES && kind === 'type' && DESCRIBING.includes(target))
      return target === part || (mayGoDown && levelOf(target) > levelOf(part)) ? [] : wrong
    })
  })

/** The files, but for some, in whose code something is. */
const finding =
  (pattern: RegExp, but: readonly string[] = [], only = ''): Check =>
  (sources) =>
    [...sources].flatMap(([path, source]) => {
      const found = pattern.exec(withoutComments(source))
      return found === null || but.includes(path) || !path.startsWith(only) ? [] : [`${path} has ${found[0]}`]
    })

const hastyImports: Check = (sources) =>
  [...sources].flatMap(([path, source]) =>
    importsOf(source)
      .filter(({ specifier, kind }) => kind === 'static' && LAZY.test(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )

const vagueNames: Check = (sources) =>
  [...sources.keys()].filter((path) => path.split(/[/.-]/).some((word) => VAGUE_NAMES.test(word)))

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
  .filter((path) => /\.m?tsx?$/.test(path))
const program: Sources = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))

/** Each rule, and files that break it. */
const RULES: readonly (readonly [rule: string, check: Check, breaking: Readonly<Record<string, string>>])[] = [
  ['imports downwards', wrongImports, { 'domain/a.ts': "import type { B } from '../store/b.ts'" }],
  ['imports packages where they belong', wrongImports, { 'server/a.ts': "const a = await import('lowdb/node')" }],
  ['has a domain that imports nothing', wrongImports, { 'domain/a.ts': "import { join } from 'node:path'" }],
  ['has a page of its own', wrongImports, { 'dashboard/a.ts': "export type { B } from '../domain/b.ts'" }],
  ['asks for time and chance only in its clocks', finding(AMBIENT, CLOCKS), { 'server/a.ts': 'now = new Date' }],
  ['prints only where secrets are hidden', finding(PRINTING, TERMINALS), { 'cli/a.ts': 'console.log(a)' }],
  ['keeps no state in the domain', finding(MODULE_STATE, [], 'domain/'), { 'domain/a.ts': 'const a = new Map()' }],
  ['loads what is heavy only when it is used', hastyImports, { 'server/a.ts': "import { load } from 'js-yaml'" }],
  ['names files by what they hold', vagueNames, { 'server/string-utils.ts': '' }],
  ['has no cycle of imports', cycles, { 'server/a.ts': "import './b.ts'", 'server/b.ts': "export * from './a.ts'" }],
]

/** The rooms in the table of the page about the architecture: level → names. */
function roomsOnThePage(): string[][] {
  const page = readFileSync(fileURLToPath(new URL('../docs/architecture.md', import.meta.url)), 'utf8')
  const levels: string[][] = []
  for (const [, level, names = ''] of page.matchAll(/^\| (\d+) \| (`[^|]+) \|/gm)) {
    const rooms = [...names.matchAll(/`([\w.-]+)\/?`/g)].map(([, name = '']) => name)
    levels[Number(level) - 1] = [...(levels[Number(level) - 1] ?? []), ...rooms]
  }
  return levels
}

describe('The program', () => {
  it('has the levels that its page shows', () => {
    const sorted = (levels: readonly (readonly string[])[]) => levels.map((rooms) => rooms.toSorted())
    expect(sorted(roomsOnThePage())).toEqual(sorted(LEVELS))
  })

  it('is read in full', () => {
    expect(new Set([...program.keys()].map(partOf))).toEqual(new Set(LEVELS.flat()))
  })

  it.each(RULES)('%s', (_, check, breaking) => {
    expect(check(program)).toEqual([])
    expect(check(new Map(Object.entries(breaking)))).toHaveLength(1)
  })
})
