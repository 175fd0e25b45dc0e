import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeProject } from '../support/client-project.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell } from '../support/program-process.ts'
import type { Result } from '../support/running-program.ts'

/** A Python that has pytest with xdist; the one of the system has the packages of the system. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import pytest, xdist']).status === 0,
)

interface Example {
  language: string
  /** What the page shows, in its order. */
  files: readonly string[]
  command: string
  passes: RegExp
  /** A request that violates the contract, and the line of the example after which it is sent. */
  violation: readonly [after: string, line: string]
}

const EXAMPLES: readonly Example[] = [
  {
    language: 'python',
    files: ['conftest.py', 'test_client.py'],
    command: `${PYTHON} -m pytest -n 2`,
    passes: /= 3 passed in /,
    violation: ['def test_adds_a_domain(account):\n', '    call(account, "/domains", {"domain": "shop.example"})\n'],
  },
  {
    language: 'go',
    files: ['client_test.go'],
    command: 'go test -count=1 -v',
    passes: /--- PASS: TestAddsADomain[\s\S]*\nok /,
    violation: [
      '\taccount := newAccount(t)\n',
      '\tcall("POST", server.BaseURL+"/domains", account.key, `{"domain": "shop.example"}`, nil)\n',
    ],
  },
  {
    language: 'java',
    files: ['ClientTest.java'],
    command: 'java ClientTest.java',
    passes: /^$/,
    violation: [
      'static void addsADomain(Account account) throws Exception {\n',
      'send("POST", baseUrl + "/domains", account.key, "{\\"domain\\": \\"shop.example\\"}");\n',
    ],
  },
]

/** Runs an example in a project of its own; `violates` adds the violation. */
async function runExample(
  { language, files, command, violation }: Example,
  folder: string,
  {
    violates = false,
    under,
    environment = {},
  }: { violates?: boolean; under?: string; environment?: Record<string, string> } = {},
): Promise<Result> {
  makeProject(folder)
  const project = join(folder, language)
  mkdirSync(project)
  writeFileSync(join(project, 'go.mod'), 'module client\n\ngo 1.18\n')
  for (const file of files) cpSync(join(ROOT, 'docs/examples', language, file), join(project, file))
  if (violates) {
    const [after, line] = violation
    const file = join(project, files.at(-1) ?? '')
    const source = readFileSync(file, 'utf8')
    expect(source).toContain(after)
    writeFileSync(file, source.replace(after, after + line))
  }
  return runShell(under === undefined ? command : `npx --no dmarc-understudy ${under} -- ${command}`, {
    folder: project,
    environment: { npm_config_update_notifier: 'false', ...environment },
  })
}

it.for(EXAMPLES)('The example in $language passes as it stands', async (example, { folder }) => {
  const { code, stdout, stderr } = await runExample(example, folder)
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toMatch(example.passes)
})

it.for(EXAMPLES)('The example in $language fails when a request violated the contract', async (example, { folder }) => {
  const { code, stdout, stderr } = await runExample(example, folder, { violates: true })
  expect(code).not.toBe(0)
  expect(stdout + stderr).toContain('1 request violates the contract, of ')
})

it.for(EXAMPLES)(
  'The example in $language uses the server of `run`, which judges its requests',
  async (example, { folder }) => {
    const passed = await runExample(example, folder, { under: 'run' })
    expect(passed.code, passed.stdout + passed.stderr).toBe(0)
    expect(passed.stderr).toMatch(/PASSED/)
  },
)

it('An example whose request violates the contract fails by `run`', async ({ folder }) => {
  const { code, stdout, stderr } = await runExample(EXAMPLES[0] as Example, folder, { under: 'run', violates: true })
  expect(code, stdout + stderr).toBe(1)
  expect(stderr).toContain('violation/unknown_field')
})

it('An example fails with the words of a server that ends early', async ({ folder }) => {
  const environment = { DMARC_UNDERSTUDY_PROT: '1' }
  const { code, stdout, stderr } = await runExample(EXAMPLES[0] as Example, folder, { environment })
  expect(code).not.toBe(0)
  expect(stdout + stderr).toMatch(/The server ended/)
  expect(stdout + stderr).toContain('did you mean DMARC_UNDERSTUDY_PORT?')
})
