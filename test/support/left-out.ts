import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule, TestRunEndReason, TestSpecification, Vitest } from 'vitest/node'
import type { Budget } from './budget.ts'

/** What some tests need beside Node.js: how it is found out whether it is there, and what such a test names. */
const TOOLS: Readonly<Record<string, { command: readonly string[]; named: RegExp }>> = {
  'redis-server': { command: ['redis-server', '--version'], named: /redis/i },
  curl: { command: ['curl', '--version'], named: /curl/i },
  jq: { command: ['jq', '--version'], named: /\bjq\b/i },
  bash: { command: ['bash', '--version'], named: /bash/i },
  script: { command: ['script', '--version'], named: /TERMINAL/ },
  'python3 with pytest': { command: ['/usr/bin/python3', '-c', 'import pytest, xdist'], named: /python|pytest/i },
  go: { command: ['go', 'version'], named: /\bgo\b/i },
  javac: { command: ['javac', '-version'], named: /\bjavac?\b/i },
}

interface Run {
  budget: Budget
  /** Whether all files were to run, and not those that somebody has named. */
  isWhole: boolean
  /** The text of the file of each skipped test. */
  skipped: readonly string[]
}

/** What was left out, and why, in one line; `undefined` where nothing was. */
function describeLeftOut({ budget, isWhole, skipped }: Run, has = isInstalled): string | undefined {
  const parts: string[] = []
  if (budget === 'quick' && isWhole)
    parts.push('long tests, large tables and the browser (npm run test:whole has them)')
  if (skipped.length > 0) {
    const needed = Object.keys(TOOLS).filter((tool) => skipped.some((text) => TOOLS[tool]?.named.test(text)))
    const missing = needed.filter((tool) => !has(tool))
    const why = missing.length === 0 ? 'the machine cannot do what they need' : `not installed: ${missing.join(', ')}`
    parts.push(`${skipped.length} ${skipped.length === 1 ? 'test' : 'tests'} (${why})`)
  }
  return parts.length === 0 ? undefined : `Left out: ${parts.join('; ')}.`
}

/** Says at the end what was left out: a green run must not seem to have tried what it did not try. CI leaves nothing out. */
export class LeftOut implements Reporter {
  readonly #budget: Budget
  #vitest: Vitest | undefined
  #isWhole = true

  constructor(budget: Budget) {
    this.#budget = budget
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    this.#isWhole = specifications.length === (await this.#vitest?.globTestSpecifications())?.length
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: readonly SerializedError[], reason: TestRunEndReason): void {
    // With a name, all other tests count as skipped.
    if (reason === 'interrupted' || this.#vitest?.config.testNamePattern !== undefined) return
    const isMeant = (tags: readonly string[]) => this.#budget === 'quick' && tags.includes('slow')
    const skipped = modules.flatMap(({ children, moduleId }) =>
      [...children.allTests('skipped')].flatMap(({ tags }) => (isMeant(tags) ? [] : readFileSync(moduleId, 'utf8'))),
    )
    const line = describeLeftOut({ budget: this.#budget, isWhole: this.#isWhole, skipped })
    if (line !== undefined) console.log(`\n${line}`)
    if (process.env['CI'] && skipped.length > 0) {
      console.error('In CI, a test that is skipped has failed.')
      process.exitCode = 1
    }
  }
}

function isInstalled(tool: string): boolean {
  const [command = '', ...args] = TOOLS[tool]?.command ?? []
  return spawnSync(command, args).status === 0
}
