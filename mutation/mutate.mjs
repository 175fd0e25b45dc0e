// Plants mistakes in the source, one at a time, and sees whether a test fails. Stryker does the work; it needs a newer Node
// than the package, so it is installed here and not with the package.
//   npm run mutate                                all folders: many hours
//   npm run mutate -- domain journal              two folders
//   npm run mutate -- domain --share 0.1 --seed 7 one block of ten lines in ten, as the seed draws them
// It prints each mistake that no test noticed, and the share of those that one did.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const PACKAGES = ['@stryker-mutator/core@10.1.1', '@stryker-mutator/vitest-runner@10.1.1']
process.chdir(join(HERE, '..'))

/** The folders of src, and those of test that are asked about each: its own, and those that reach it through a door. */
const FOLDERS = {
  domain: ['corpus', 'domain', 'service', 'faults', 'accounts'],
  behaviour: ['corpus', 'service', 'contract', 'independent-service'],
  service: ['corpus', 'service', 'independent-service'],
  store: ['corpus', 'store', 'accounts', 'server', 'independent-service'],
  accounts: ['accounts', 'admin', 'library'],
  faults: ['faults', 'admin'],
  journal: ['journal', 'admin', 'corpus', 'explain'],
  explain: ['corpus', 'explain', 'admin'],
  coverage: ['corpus', 'coverage', 'admin'],
  trials: ['trials', 'cli', 'library'],
  exchanges: ['exchanges', 'corpus', 'judge', 'cli'],
  judge: ['judge', 'corpus', 'independent-service', 'cli'],
  evidence: ['evidence', 'cli'],
}
/** The least share of the mistakes that the tests must notice. */
const GOAL = 0.85
/** Lines of a block, all or nothing of which is drawn. */
const BLOCK = 10

const { values, positionals } = readArguments()
if (!existsSync(join(HERE, 'node_modules'))) {
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', HERE, '--no-save', '--no-audit', '--no-fund', ...PACKAGES],
    {
      stdio: 'inherit',
    },
  )
  if (status !== 0) process.exit(3)
}
// Tests load the page, and some start the program.
const { status: built } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
if (built !== 0) process.exit(3)
const installed = createRequire(join(HERE, 'node_modules', 'any.js'))
const { Stryker } = await import(pathToFileURL(installed.resolve('@stryker-mutator/core')).href)

let missed = false
for (const folder of positionals.length > 0 ? positionals : Object.keys(FOLDERS)) {
  process.env['MUTATION_TESTS'] = FOLDERS[folder].join(',')
  const mutants = await plant(drawRanges(folder))
  // One that cannot be built or run does not count; one that no test reaches was not noticed.
  const noticed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout')
  const unnoticed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  for (const { fileName, location, mutatorName, replacement } of unnoticed) {
    const place = `${relative(process.cwd(), fileName)}:${location.start.line}`
    console.log(`${place}  ${mutatorName}  ${(replacement ?? '').replace(/\s+/g, ' ').slice(0, 100)}`)
  }
  const all = noticed.length + unnoticed.length
  console.log(`${folder}: ${noticed.length} of ${all} mistakes were noticed.`)
  missed ||= noticed.length < GOAL * all
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

/** Plants the mistakes of these files or places, and asks the tests about each. */
async function plant(places) {
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
      ignorePatterns: ['mutation/node_modules'],
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
