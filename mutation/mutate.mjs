// Plants mistakes in the source, one at a time, and sees whether a test fails. Stryker does the work; it needs a newer Node
// than the package, so it is installed here and not with the package.
//   npm run mutate                                all folders: many hours
//   npm run mutate -- domain journal              two folders
//   npm run mutate -- domain --share 0.1 --seed 7 one block of ten lines in ten, as the seed draws them
// What the tests of `npm test` do not notice, the slow tests of the same folders are asked about, too.
// It prints the share of the mistakes that were noticed and each one that was not, and writes both to mutation/results.json.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const RESULTS = join(HERE, 'results.json')
process.chdir(join(HERE, '..'))

/** The folders of src, and those of test that are asked about each: its own, and those that reach it through a door. */
const FOLDERS = {
  domain: ['domain', 'behaviour', 'service', 'faults', 'accounts'],
  behaviour: ['behaviour', 'service', 'contract', 'coverage', 'model'],
  store: ['store', 'accounts', 'start', 'model'],
  accounts: ['accounts', 'admin', 'library'],
  journal: ['journal', 'admin', 'library', 'explain'],
  trials: ['trials', 'cli', 'library'],
  exchanges: ['exchanges', 'conformance', 'cli'],
  choices: ['choices', 'conformance', 'cli', 'library'],
  conformance: ['conformance', 'choices', 'cli', 'library'],
  evidence: ['evidence', 'cli', 'library'],
}
/** The least share of the mistakes that the tests must notice. */
const GOAL = 0.85
/** Lines of a block, all or nothing of which is drawn. */
const BLOCK = 10

const { values, positionals } = readArguments()
if (!existsSync(join(HERE, 'node_modules'))) {
  const { status } = spawnSync('npm', ['ci', '--prefix', HERE, '--no-audit', '--no-fund'], { stdio: 'inherit' })
  if (status !== 0) process.exit(3)
}
// Tests load the page, and slow ones start the program.
const { status: built } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
if (built !== 0) process.exit(3)
const { Stryker } = await import('@stryker-mutator/core')

const results = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {}
let missed = false
for (const folder of positionals.length > 0 ? positionals : Object.keys(FOLDERS)) {
  const result = await mutate(folder)
  results[folder] = result
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  for (const { file, line, mutator, to } of result.survivors) console.log(`${file}:${line}  ${mutator}  ${to}`)
  console.log(`${folder}: ${result.noticed} of ${result.mutants} mistakes were noticed, ${percent(result)} %.`)
  missed ||= result.noticed < GOAL * result.mutants
}
process.exitCode = missed ? 1 : 0

function readArguments() {
  const options = {
    share: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
  }
  try {
    const read = parseArgs({ options, allowPositionals: true })
    const wrong = read.positionals.find((folder) => !Object.hasOwn(FOLDERS, folder))
    if (wrong !== undefined) throw new Error(`${wrong}: must be one of ${Object.keys(FOLDERS).join(', ')}`)
    const share = Number(read.values.share)
    if (!(share > 0 && share <= 1))
      throw new Error(`--share ${read.values.share}: must be greater than 0 and at most 1`)
    return read
  } catch (error) {
    console.error(`mutate: ${error.message}`)
    process.exit(2)
  }
}

async function mutate(folder) {
  process.env['MUTATION_TESTS'] = FOLDERS[folder].join(',')
  const first = await plant(drawRanges(folder), 'quick')
  const unnoticed = first.filter(isUnnoticed)
  const second = unnoticed.length === 0 ? [] : await plant(unnoticed.map(rangeOf), 'whole')
  const late = new Set(second.filter(isNoticed).map(identify))
  return summarize(
    first.filter(isNoticed).length + unnoticed.filter((mutant) => late.has(identify(mutant))).length,
    unnoticed.filter((mutant) => !late.has(identify(mutant))),
  )
}

/** Plants the mistakes of these files or places, and asks the tests of a budget about each. */
async function plant(places, budget) {
  process.env['TEST_BUDGET'] = budget
  // Stryker leaves its copy of the project behind when it is stopped; nobody looks for it in the project then.
  const temporary = mkdtempSync(join(tmpdir(), 'understudy-mutants-'))
  try {
    return await new Stryker({
      mutate: places,
      testRunner: 'vitest',
      plugins: [join(HERE, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
      vitest: { configFile: 'mutation/vitest.config.ts', related: false },
      coverageAnalysis: 'perTest',
      // What is computed once when a module is loaded costs a new process for each mistake.
      ignoreStatic: true,
      concurrency: Number(values.jobs),
      timeoutMS: 60_000,
      dryRunTimeoutMinutes: 30,
      ignorePatterns: ['mutation/node_modules', 'mutation/results.json'],
      tempDirName: temporary,
      // Stryker would rewrite it with a version of TypeScript that has an interface for programs.
      tsconfigFile: 'none.json',
      reporters: ['progress-append-only'],
      logLevel: 'warn',
    }).runMutationTest()
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function isNoticed({ status }) {
  return status === 'Killed' || status === 'Timeout'
}

function isUnnoticed({ status }) {
  return status === 'Survived' || status === 'NoCoverage'
}

function identify({ fileName, location: { start, end }, mutatorName, replacement }) {
  return JSON.stringify([fileName, start, end, mutatorName, replacement])
}

/** Stryker tells columns from 1, and reads them from 0. */
function rangeOf({ fileName, location: { start, end } }) {
  const place = ({ line, column }) => `${line}:${column - 1}`
  return `${relative(process.cwd(), fileName)}:${place(start)}-${place(end)}`
}

/** The files of a folder; of a share, the blocks of lines that the seed draws. */
function drawRanges(folder) {
  const share = Number(values.share)
  const files = globSync(`src/${folder}/**/*.ts`).sort()
  if (share === 1) return files
  const draw = createChance(Number(values.seed))
  return files.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n').length
    const starts = Array.from({ length: Math.ceil(lines / BLOCK) }, (_, index) => index * BLOCK + 1)
    return starts.filter(() => draw() < share).map((start) => `${file}:${start}-${Math.min(lines, start + BLOCK - 1)}`)
  })
}

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function createChance(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A mistake that no test reaches counts as one that was not noticed; one that cannot be built or run does not count. */
function summarize(noticed, unnoticed) {
  return {
    share: Number(values.share),
    seed: Number(values.seed),
    mutants: noticed + unnoticed.length,
    noticed,
    survivors: unnoticed.map(({ fileName, location, mutatorName, replacement, status }) => ({
      file: relative(process.cwd(), fileName),
      line: location.start.line,
      mutator: status === 'NoCoverage' ? `${mutatorName} (no test comes here)` : mutatorName,
      to: (replacement ?? '').replace(/\s+/g, ' ').slice(0, 100),
    })),
  }
}

function percent({ noticed, mutants }) {
  return mutants === 0 ? '–' : ((100 * noticed) / mutants).toFixed(1)
}
