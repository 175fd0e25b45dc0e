import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { ROOT, runProcess } from '../support/program-process.ts'
import type { Result } from '../support/running-program.ts'

/** A Python that has pytest with xdist; the one of the system has the packages of the system. */
const PYTHON = ['python3', '/usr/bin/python3'].find((python) => succeeds(python, '-c', 'import pytest, xdist'))
const VITEST = join(ROOT, 'node_modules', 'vitest')

/** A test tool, and the tests of one client in its language. */
interface Suite {
  tool: string
  file: string
  command: readonly string[]
  /** Whether it can be run here; CI installs every tool and skips none. */
  isInstalled: boolean
  /** What it prints when its tests pass. */
  passes: RegExp
}

const SUITES: readonly Suite[] = [
  {
    tool: 'pytest -n',
    file: 'test_client.py',
    command: [`${PYTHON}`, '-m', 'pytest', '-n', '2', '-p', 'no:cacheprovider'],
    isInstalled: PYTHON !== undefined,
    passes: /= 4 passed in /,
  },
  {
    tool: 'vitest',
    file: 'client.test.mjs',
    command: [process.execPath, join(VITEST, 'vitest.mjs'), 'run'],
    isInstalled: true,
    passes: /4 passed/,
  },
  {
    tool: 'go test',
    file: 'client_test.go',
    command: ['go', 'test', '-count=1'],
    isInstalled: succeeds('go', 'version'),
    passes: /^ok /m,
  },
  {
    tool: 'java',
    file: 'ClientTest.java',
    command: ['java', 'ClientTest.java'],
    // Without a compiler, Java runs no source file.
    isInstalled: succeeds('javac', '-version'),
    passes: /^$/,
  },
]

/** What the tests of the client do, by the variables that tell them, and how the program ends then. */
const ENDS: readonly (readonly [
  what: string,
  told: Record<string, string>,
  code: number,
  said: string,
  passes: boolean,
])[] = [
  [
    'fails where they pass although the client violates the contract',
    { SENDS: 'domain' },
    1,
    'FAILED  The command succeeded. It sent 7 requests; 3 of them violate the contract.',
    true,
  ],
  [
    'passes where they pass, and leaves what they print alone',
    {},
    0,
    'PASSED  The command succeeded. It sent 7 requests; none of them violates the contract.',
    true,
  ],
  [
    'fails as they do',
    { FAILS: 'yes' },
    1,
    'FAILED  The command failed with exit code 1. It sent 7 requests; none of them violates',
    false,
  ],
]

/** Each run takes seconds, most of them for the tool. */
const suites = SUITES.slice(0, budget({ quick: 1, full: SUITES.length }))
const ends = ENDS.slice(0, budget({ quick: 1, full: ENDS.length }))

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}

/** Runs the tests of a copy of the client. */
function runSuite({ file, command }: Suite, folder: string, environment: Record<string, string> = {}): Promise<Result> {
  cpSync(join(import.meta.dirname, 'suites', file), join(folder, file))
  writeFileSync(join(folder, 'go.mod'), 'module client\n\ngo 1.18\n')
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(VITEST, join(folder, 'node_modules', 'vitest'))
  // Without what the tests around it say in the environment.
  const usual = { VITEST: '', NODE_OPTIONS: '', no_proxy: '127.0.0.1' }
  return runProcess(['run', '--', ...command], { folder, environment: { ...usual, ...environment } })
}

describe.each(suites)('run with the tests of a client in $tool', (suite) => {
  for (const [what, told, expected, said, passes] of ends) {
    it.skipIf(!suite.isInstalled)(what, async ({ folder }) => {
      const { code, stdout, stderr } = await runSuite(suite, folder, told)
      expect(code, stdout + stderr).toBe(expected)
      if (passes) expect(stdout).toMatch(suite.passes)
      expect(stderr).toContain(said)
    })
  }
})
