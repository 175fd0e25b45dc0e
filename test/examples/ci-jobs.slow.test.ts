import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { HAS_CURL, HAS_JQ } from '../support/curl.ts'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'
import type { Result } from '../support/running-program.ts'

const pages = ['README.md', 'docs/testing.md'].map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n')

/** The block of the documentation that begins with this comment. */
function blockOf(title: string): string {
  const [, block] = new RegExp(`\`\`\`(?:bash|yaml)\\n(# ${title}\\n[\\s\\S]*?)\`\`\``).exec(pages) ?? []
  if (block === undefined) throw new Error(`The documentation has no ${title}.`)
  return block
}

interface Workflow {
  jobs: { test: { steps: { run?: string }[] } }
}

/** Each job as its system runs it: the options of its shell, and the scripts. */
const JOBS: Readonly<Record<string, () => [shell: string, ...scripts: string[]]>> = {
  bash: () => ['bash', blockOf('job.sh')],
  'GitHub Actions': () => {
    const { jobs } = load(blockOf('.github/workflows/client.yml')) as Workflow
    // The other steps check the project out and install Node.js.
    return ['bash -e', ...jobs.test.steps.flatMap(({ run }) => run ?? [])]
  },
  GitLab: () => {
    const { client } = load(blockOf('.gitlab-ci.yml')) as { client: { script: string[] } }
    return ['bash -eo pipefail', client.script.join('\n')]
  },
}

/** Each run of a job takes seconds, most of them for npm. */
const SYSTEMS = Object.keys(JOBS)
const TRIED = SYSTEMS.slice(0, budget({ quick: 1, full: SYSTEMS.length }))

const LAWFUL = "await ask('GET', '/domains'); await ask('POST', '/domains', { domains: ['ci.example'] })"
/** Violates the contract, and then destroys what tells of it. */
const VIOLATING = `await ask('GET', '/domains'); await ask('POST', '/domains', { domain: 'ci.example' })
await control('POST', '/accounts/default/reset'); await control('DELETE', '/accounts/default/requests')`

/** A project whose tests are a client, and a machine on which npx finds the program. */
function makeProject(folder: string, client: string): { project: string; environment: Record<string, string> } {
  const [project, prefix] = [join(folder, 'project'), join(folder, 'prefix')]
  for (const path of [project, join(prefix, 'bin'), join(prefix, 'lib', 'node_modules')]) {
    mkdirSync(path, { recursive: true })
  }
  symlinkSync(ROOT, join(prefix, 'lib', 'node_modules', 'dmarc-understudy'))
  symlinkSync(PROGRAM, join(prefix, 'bin', 'dmarc-understudy'))
  const manifest = { name: 'client', version: '1.0.0', scripts: { test: 'node client.mjs' } }
  // What a run that was killed has left, in a folder that jobs share.
  const nowhere = 'http://127.0.0.1:9'
  const stale = { base_url: `${nowhere}/api/v1`, admin_url: `${nowhere}/__admin`, api_key: 'k', instance: 'i' }
  const lock = { name: 'client', version: '1.0.0', lockfileVersion: 3, packages: { '': manifest } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock))
  writeFileSync(join(project, 'understudy.json'), JSON.stringify(stale))
  writeFileSync(
    join(project, 'client.mjs'),
    `const { API_URL = process.env.UNDERSTUDY_BASE_URL, API_KEY = process.env.UNDERSTUDY_API_KEY } = process.env
const ask = (method, path, body) => fetch(API_URL + path, {
  method,
  headers: { authorization: 'Bearer ' + API_KEY, 'content-type': 'application/json' },
  body: body && JSON.stringify(body),
})
const control = (method, path) => fetch(new URL('/__admin' + path, API_URL), { method })
${client}\n`,
  )
  return { project, environment: { npm_config_prefix: prefix, npm_config_update_notifier: 'false' } }
}

/** Runs the scripts of a job, each in a shell of its own, until one fails. */
async function runJob(job: string, folder: string, client: string, variables = {}): Promise<Result> {
  const { project, environment } = makeProject(folder, client)
  const [shell, ...scripts] = JOBS[job]?.() ?? ['']
  let result: Result = { code: null, stdout: '', stderr: 'The job has no script.' }
  for (const script of scripts) {
    writeFileSync(join(project, 'script.sh'), script)
    result = await runShell(`${shell} script.sh`, { folder: project, environment: { ...environment, ...variables } })
    if (result.code !== 0) break
  }
  return result
}

describe.skipIf(!HAS_CURL || !HAS_JQ)('the job of the documentation', { timeout: 60_000 }, () => {
  it.for(TRIED)('for %s passes with a client that keeps the contract', async (job, { folder }) => {
    const { code, stdout, stderr } = await runJob(job, folder, LAWFUL)
    expect(code, stdout + stderr).toBe(0)
  })

  it.for(TRIED)(
    'for %s fails with a client that violates it and clears its traces, and says where',
    async (job, { folder }) => {
      const { code, stdout, stderr } = await runJob(job, folder, VIOLATING)
      expect(code).not.toBe(0)
      expect(stdout + stderr).toMatch(/POST \/api\/v1\/domains[\s\S]*The field `domain` is not supported/)
    },
  )

  const wrong: [what: string, client: string][] = [
    ['sends nothing', ''],
    ['fails', `${LAWFUL}; process.exit(3)`],
  ]
  it.for(wrong.slice(0, budget({ quick: 0, full: wrong.length })))(
    'fails with a client that %s',
    async ([, client], { folder }) => {
      expect((await runJob('bash', folder, client)).code).not.toBe(0)
    },
  )

  it('for bash fails at once when the server cannot start', async ({ folder }) => {
    const { code, stderr } = await runJob('bash', folder, LAWFUL, { DMARC_UNDERSTUDY_PROT: '1' })
    expect(code).not.toBe(0)
    expect(stderr).toContain('did you mean DMARC_UNDERSTUDY_PORT?')
  })
})
