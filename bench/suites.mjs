// What a test costs that has an account of its own, beside one that shares a bare server with all others.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spendOn } from './spending.mjs'
import { summarize } from './statistics.mjs'

const SUITES = fileURLToPath(new URL('suites', import.meta.url))
const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

/** Milliseconds of wall time and of processor time of one test, of each suite in the same vitest. */
export async function measureSuites(plan, folder) {
  const output = join(folder, 'suites.jsonl')
  const environment = { BENCH_TESTS: `${plan.tests}`, BENCH_SUITES: output }
  for (let round = 0; round < plan.suites; round++) {
    await spendOn([VITEST, 'run', '--root', SUITES], { folder, environment })
  }
  const rounds = readFileSync(output, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return ['createTest', 'Express'].map((name) => {
    const own = rounds.flatMap(({ suite, ...figures }) => (suite === name ? [figures] : []))
    return { suite: name, tests: plan.tests, ...summarize(own) }
  })
}
