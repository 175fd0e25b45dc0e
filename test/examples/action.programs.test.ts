import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { makeProject } from '../support/client-project.ts'
import { commandsIn, GithubJob, type Step } from '../support/github-job.ts'
import { it } from '../support/program.ts'

const CLIENT = `const { UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY } = process.env
const ask = (path, body) => fetch(UNDERSTUDY_BASE_URL + path, {
  method: body ? 'POST' : 'GET',
  headers: { authorization: 'Bearer ' + UNDERSTUDY_API_KEY, 'content-type': 'application/json' },
  body: body && JSON.stringify(body),
})
if ((await ask('/domains')).status !== 200) process.exit(1)
if (process.argv[2] === 'violate') await ask('/domains', { domain: 'ci.example' })
`
const REASON = /The field \\?`domain\\?` is not supported/

/** A job of a project that has the package installed, and a client. */
function makeJob(folder: string): GithubJob {
  const job = new GithubJob(folder)
  makeProject(job.workspace)
  writeFileSync(join(job.workspace, 'client.mjs'), CLIENT)
  return job
}

/** A program that prints its options, and runs the command without a service. */
function makeProgram(folder: string): string {
  const place = join(folder, 'understudy')
  const lines = 'while [ "$1" != -- ]; do echo "[$1]"; shift; done; shift; UNDERSTUDY_API_KEY=k2 exec "$@"'
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), '{"name": "dmarc-understudy", "bin": {"dmarc-understudy": "a.js"}}')
  writeFileSync(
    join(place, 'a.js'),
    `const args = ['-c', ${JSON.stringify(lines)}, 'sh', ...process.argv.slice(2)]
process.exitCode = require('node:child_process').spawnSync('sh', args, { stdio: 'inherit' }).status\n`,
  )
  return place
}

const errorsOf = (step: Step) => commandsIn(step, 'error').join('\n')

describe('The action with `run`', () => {
  it('passes if the commands succeed and keep the contract, and writes the summary and the reports', async ({
    folder,
  }) => {
    const job = makeJob(folder)
    const run = 'node client.mjs\necho "with [$INPUT_RUN$ACTIONS_RUNTIME_TOKEN$BASH_ENV]"'
    const step = await job.action({ run, report: 'junit=one.xml\njson=two.json' })
    expect(step, step.stdout + step.stderr).toMatchObject({ code: 0 })
    // The commands have what those of a step have, and nothing more.
    expect(step.stdout).toContain('with []\n')
    expect(commandsIn(step, 'add-mask')).toHaveLength(1)
    expect(step.summary).toContain('The command succeeded')
    expect(['one.xml', 'two.json'].map((file) => existsSync(join(job.workspace, file)))).toEqual([true, true])
    // Nothing is left to do when the job ends.
    expect(await job.end()).toMatchObject({ code: 0, stdout: '', stderr: '', summary: '' })
  })

  it.for<[what: string, run: string, code: number, says: RegExp]>([
    ['a request violates the contract', 'node client.mjs violate', 1, REASON],
    ['the commands send nothing', 'true', 1, /No request has come/],
    ['one of the commands fails', 'false | cat\necho end', 1, /The command failed with exit code 1\./],
  ])('fails with an annotation if %s', async ([, run, code, says], { folder }) => {
    const step = await makeJob(folder).action({ run })
    expect(step.code, step.stdout + step.stderr).toBe(code)
    expect(errorsOf(step)).toMatch(says)
    expect(step.stdout).not.toContain('end\n')
  })

  it('passes a signal on to the commands, because a job that is cancelled tells only the action', async ({
    folder,
  }) => {
    const run = `trap 'echo told; exit 3' INT; echo begun; sleep 600 & wait`
    const step = await makeJob(folder).action({ run }, async (action) => {
      await action.prints(/begun/)
      action.stop('SIGINT')
    })
    expect(step, step.stderr).toMatchObject({ code: 3, stdout: expect.stringContaining('told\n') })
  })
})

describe('The action without `run`', () => {
  it.for([
    ['passes if all requests keep the contract', 'node client.mjs', 0, /^$/],
    ['fails if one violates it', 'node client.mjs violate', 1, REASON],
    ['fails if nobody uses the service', 'true', 1, /No request has come/],
  ] as const)('serves the later steps, and when the job ends %s', async ([, run, code, says], { folder }) => {
    const job = makeJob(folder)
    const start = await job.action({ fixture: 'agency', options: '--seed 7' })
    expect(start, start.stdout + start.stderr).toMatchObject({
      code: 0,
      outputs: { 'base-url': expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/) },
    })
    expect(commandsIn(start, 'add-mask')).toEqual([start.outputs['api-key']])
    expect(await job.run(run)).toMatchObject({ code: 0 })
    const end = await job.end()
    expect(end.code, end.stdout + end.stderr).toBe(code)
    expect(errorsOf(end)).toMatch(says)
    await expect(fetch(`${start.outputs['admin-url']}/health`)).rejects.toThrow()
  })

  it('fails at once if the service cannot start, and leaves nothing for the end of the job', async ({ folder }) => {
    const job = makeJob(folder)
    const start = await job.action({ fixture: 'agancy' })
    expect(start.code).toBe(2)
    expect(errorsOf(start)).toBe('the service could not start; the lines above say why')
    expect(await job.end()).toMatchObject({ code: 0, stdout: '' })
  })
})

describe('The action', () => {
  it('hands the inputs on as options', async ({ folder }) => {
    const step = await new GithubJob(folder).action({
      ...{ package: makeProgram(folder), run: 'echo run', fixture: 'my file.json', 'fail-on': 'violation' },
      options: `--seed 7 --set-env "A=a \\"b\\" 'c'" 'one word'\\ more --api-key k1`,
      ...{ 'min-coverage': '60', report: 'json=a b.json\n  junit=c.xml  \n' },
    })
    expect([...step.stdout.matchAll(/^\[(.*)\]$/gm)].map(([, word]) => word)).toEqual([
      ...['run', '--seed', '7', '--set-env', `A=a "b" 'c'`, 'one word more', '--api-key', 'k1'],
      ...['--fixture=my file.json', '--fail-on=violation', '--min-coverage=60', '--report=json=a b.json'],
      '--report=junit=c.xml',
    ])
    expect(commandsIn(step, 'add-mask')).toEqual(['k1', 'k2'])
  })

  it('installs its own version where the project has none, and does not see it', async ({ folder }) => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    const installs = `#!/bin/sh
for spec; do :; done; echo "installs $spec"
mkdir -p node_modules/dmarc-understudy
echo '{"name": "dmarc-understudy", "bin": {"dmarc-understudy": "a.js"}}' >node_modules/dmarc-understudy/package.json
echo 'console.log("it runs")' >node_modules/dmarc-understudy/a.js\n`
    writeFileSync(join(bin, 'npm'), installs, { mode: 0o755 })
    const job = new GithubJob(folder, { PATH: `${bin}:${process.env['PATH']}` })
    const { stdout } = await job.action({ run: 'true' })
    expect(stdout).toMatch(/^installs dmarc-understudy@\d+\.\d+\.\d+\S*$/m)
    expect(stdout).toMatch(/\n::endgroup::\nit runs\n/)
    expect(existsSync(join(job.workspace, 'node_modules'))).toBe(false)
  })

  it.for<[inputs: Record<string, string>, says: string | RegExp]>([
    [{ 'working-directory': 'x' }, /^working-directory \/.*\/x: there is no such folder$/],
    [{ options: '-- true' }, 'options -- true: -- is for a command; give the commands as the input run'],
    [{ options: "--seed '7" }, "options --seed '7: a ' has no end"],
    [{ package: 'x', version: '1' }, 'give package or version, not both'],
    [{ package: 'x' }, /^package \/.*\/x: there is no such file$/],
    [{ version: '1; ls' }, 'version 1; ls: is no version, such as 1.2.3'],
  ])('refuses %j with a sentence', async ([inputs, says], { folder }) => {
    const step = await new GithubJob(folder).action({ run: 'true', ...inputs })
    expect(step.code).toBe(2)
    expect(errorsOf(step)).toMatch(says)
  })
})
