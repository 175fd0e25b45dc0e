import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { blocksOf } from '../support/documents.ts'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'
import type { Result } from '../support/running-program.ts'

const page = readFileSync(join(ROOT, 'docs/ci.md'), 'utf8')

/** The block of the page that begins with this comment. */
function blockOf(title: string): string {
  const block = blocksOf(page).find(({ content }) => content.startsWith(`# ${title}\n`))
  if (block === undefined) throw new Error(`docs/ci.md has no ${title}.`)
  return block.content
}

type Run = (project: string, environment: Record<string, string>) => Promise<Result>

/** Runs a script in a project. */
function runScript(shell: string, script: string, folder: string, environment: Record<string, string>) {
  writeFileSync(join(folder, 'script.sh'), script)
  return runShell(`${shell} script.sh`, { folder, environment })
}

interface GitlabJob {
  extends?: string
  variables?: Record<string, string>
  before_script?: string[]
  script: string[]
}

/** The jobs of docs/recipes/gitlab.yml with these inputs. GitLab puts them into the text before it reads the YAML. */
function includeGitlab(inputs: Record<string, string>): Record<string, GitlabJob> {
  const text = readFileSync(join(ROOT, 'docs/recipes/gitlab.yml'), 'utf8')
  const [head = '', body = ''] = text.split(/^---$/m)
  const { spec } = load(head) as { spec: { inputs: Record<string, { default: string }> } }
  const unknown = Object.keys(inputs).filter((name) => !Object.hasOwn(spec.inputs, name))
  if (unknown.length > 0) throw new Error(`docs/recipes/gitlab.yml has no input ${unknown.join(', ')}.`)
  return load(
    body.replaceAll(
      /\$\[\[ inputs\.(\w+) \]\]/g,
      (_, name: string) => inputs[name] ?? spec.inputs[name]?.default ?? '',
    ),
  ) as Record<string, GitlabJob>
}

/** Runs the job `client` as the runner of GitLab does: all lines are one script. */
function runGitlab(jobs: Record<string, GitlabJob>, project: string, environment: Record<string, string>) {
  const { client } = jobs
  const base = client?.extends === undefined ? undefined : jobs[client.extends]
  const { before_script = [], script = [] } = { ...base, ...client }
  const variables = { ...base?.variables, ...client?.variables }
  return runScript('bash -eo pipefail', [...before_script, ...script].join('\n'), project, {
    ...variables,
    ...environment,
  })
}

const JOBS: Readonly<Record<string, Run>> = {
  bash: (project, environment) => runScript('bash', blockOf('job.sh'), project, environment),
  'GitLab with inputs': (project, environment) => {
    const { include } = load(blockOf('.gitlab-ci.yml')) as { include: { inputs: Record<string, string> }[] }
    return runGitlab(includeGitlab(include[0]?.inputs ?? {}), project, environment)
  },
  'GitHub without the action': (project, environment) => {
    const [, line] = /`- run: (.*?)`/.exec(page) ?? []
    if (line === undefined) throw new Error('docs/ci.md has no step without the action.')
    return runScript('bash -e', line, project, environment)
  },
}

const LAWFUL = "await ask('GET', '/domains'); await ask('POST', '/domains', { domains: ['ci.example'] })"
/** Violates the contract, and then destroys what tells of it. */
const VIOLATING = `await ask('GET', '/domains'); await ask('POST', '/domains', { domain: 'ci.example' })
await control('POST', '/accounts/default/reset'); await control('DELETE', '/accounts/default/requests')`

/** A project whose tests are a client, and a machine on which npx finds the program. */
function makeProject(folder: string, client: string): { project: string; environment: Record<string, string> } {
  const [project, prefix] = [join(folder, 'workspace'), join(folder, 'prefix')]
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

function runJob(job: string, folder: string, client: string, variables = {}): Promise<Result> {
  const { project, environment } = makeProject(folder, client)
  const run = JOBS[job]
  if (run === undefined) throw new Error(`There is no job for ${job}.`)
  return run(project, { ...environment, ...variables })
}

describe('The job of the documentation', () => {
  it('for bash passes with a client that keeps the contract', async ({ folder }) => {
    const { code, stdout, stderr } = await runJob('bash', folder, LAWFUL)
    expect(code, stdout + stderr).toBe(0)
  })

  it.for(Object.keys(JOBS))('for %s fails with a client that violates it, and says where', async (job, { folder }) => {
    const { code, stdout, stderr } = await runJob(job, folder, VIOLATING)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toMatch(/POST \/api\/v1\/domains[\s\S]*The field `domain` is not supported/)
  })

  it('for bash fails at once when the server cannot start', async ({ folder }) => {
    const { code, stderr } = await runJob('bash', folder, LAWFUL, { DMARC_UNDERSTUDY_PROT: '1' })
    expect(code).not.toBe(0)
    expect(stderr).toContain('did you mean DMARC_UNDERSTUDY_PORT?')
  })
})
