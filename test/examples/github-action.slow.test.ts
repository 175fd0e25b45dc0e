import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { makeProject } from '../support/client-project.ts'
import { commandsIn, GithubJob, type Step } from '../support/github-job.ts'
import { it } from '../support/program.ts'
import { ROOT } from '../support/program-process.ts'

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
function makeJob(folder: string, environment: Record<string, string> = {}): GithubJob {
  const job = new GithubJob(folder, environment)
  makeProject(job.workspace)
  writeFileSync(join(job.workspace, 'client.mjs'), CLIENT)
  return job
}

/** A program that prints its options, and runs the command without a service. */
function makeProgram(folder: string): string {
  const place = join(folder, 'understudy')
  const lines = 'while [ "$1" != -- ]; do echo "[$1]"; shift; done; shift; UNDERSTUDY_API_KEY=k2 exec "$@"'
  mkdirSync(place)
  writeFileSync(
    join(place, 'package.json'),
    '{"name": "dmarc-understudy", "type": "module", "bin": {"dmarc-understudy": "a.js"}}',
  )
  writeFileSync(
    join(place, 'a.js'),
    `import { spawnSync } from 'node:child_process'
const args = ['-c', ${JSON.stringify(lines)}, 'sh', ...process.argv.slice(2)]
process.exitCode = spawnSync('sh', args, { stdio: 'inherit' }).status\n`,
  )
  return place
}

/** A PATH on which npm does what these lines of sh do. */
function pathWithNpm(folder: string, lines: string): Record<string, string> {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${lines}\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  return { PATH: `${bin}:${process.env['PATH']}` }
}

const errorsOf = (step: Step) => commandsIn(step, 'error').join('\n')

describe('the action with `run`', () => {
  it('passes if the commands succeed and keep the contract, and writes the summary and the reports', async ({
    folder,
  }) => {
    const job = makeJob(folder)
    const step = await job.action({
      run: 'node client.mjs\necho "with [$INPUT_RUN$ACTIONS_RUNTIME_TOKEN$BASH_ENV]"',
      report: 'junit=one.xml\njson=two.json',
    })
    expect(step, step.stdout + step.stderr).toMatchObject({ code: 0 })
    // The commands have what those of a step have, and nothing more.
    expect(step.stdout).toContain('with []\n')
    expect(commandsIn(step, 'add-mask')).toHaveLength(1)
    expect(step.summary).toContain('The command succeeded')
    expect(['one.xml', 'two.json'].map((file) => existsSync(join(job.workspace, file)))).toEqual([true, true])
    // Nothing is left to do when the job ends.
    expect(await job.end()).toMatchObject({ code: 0, stdout: '', stderr: '', summary: '' })
  })

  it('fails with an annotation for a request that violates the contract', async ({ folder }) => {
    const step = await makeJob(folder).action({ run: 'node client.mjs violate' })
    expect(step.code).toBe(1)
    expect(errorsOf(step)).toMatch(REASON)
    expect(step.summary).toMatch(REASON)
  })

  it.for<[what: string, inputs: Record<string, string>, code: number, says: string]>([
    ['are not there', { run: 'no-such-command' }, 127, 'The command failed with exit code 127.'],
    ['send nothing', { run: 'true' }, 1, 'No request has come'],
    ['fail before their end', { run: 'false | cat\necho end' }, 1, 'The command failed with exit code 1.'],
  ])('fails if the commands %s', async ([, inputs, code, says], { folder }) => {
    const step = await makeJob(folder).action(inputs)
    expect(step.code, step.stdout + step.stderr).toBe(code)
    expect(errorsOf(step)).toContain(says)
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

  it('runs what BASH_ENV names first, as bash does', async ({ folder }) => {
    const job = new GithubJob(folder, { BASH_ENV: join(folder, "the user's.sh") })
    writeFileSync(join(folder, "the user's.sh"), 'greet() { echo "hello $1"; }\n')
    const step = await job.action({ run: 'greet job; bash -c "greet again"', package: makeProgram(folder) })
    expect(step, step.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/hello job\nhello again\n/) })
  })
})

describe('the action without `run`', () => {
  it('serves the later steps, and passes when the job ends', async ({ folder }) => {
    const job = makeJob(folder)
    const start = await job.action({ fixture: 'agency', options: '--seed 7' })
    expect(start, start.stdout + start.stderr).toMatchObject({
      code: 0,
      outputs: {
        'base-url': expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
        'api-key': expect.stringMatching(/./),
        'admin-url': expect.stringMatching(/\/__admin$/),
      },
    })
    expect(commandsIn(start, 'add-mask')).toEqual([start.outputs['api-key']])
    expect(await job.run('node client.mjs')).toMatchObject({ code: 0 })
    const end = await job.end()
    expect(end, end.stdout + end.stderr).toMatchObject({ code: 0 })
    expect(end.summary).toContain('Passed')
    const gone = fetch(`${start.outputs['admin-url']}/health`)
    await expect(gone).rejects.toThrow()
  })

  it('fails with an annotation when the job ends, if a request violated the contract', async ({ folder }) => {
    const job = makeJob(folder)
    expect(await job.action()).toMatchObject({ code: 0 })
    expect(await job.run('node client.mjs violate')).toMatchObject({ code: 0 })
    const end = await job.end()
    expect(end.code).toBe(1)
    expect(errorsOf(end)).toMatch(REASON)
    expect(end.summary).toMatch(REASON)
  })

  it('fails when the job ends, if nobody used the service', async ({ folder }) => {
    const job = makeJob(folder)
    expect((await job.action({ options: '--no-admin' })).outputs['admin-url']).toBe('')
    const end = await job.end()
    expect(end.code).toBe(1)
    expect(errorsOf(end)).toContain('No request has come')
  })

  it('fails when the job ends, if a step has killed the service', async ({ folder }) => {
    const job = makeJob(folder)
    await job.action()
    // It is the parent of the program, so nobody can tell how that ended.
    process.kill(Number(job.state['keeper']), 'SIGKILL')
    const end = await job.end()
    expect(end.code).toBe(1)
    expect(errorsOf(end)).toContain('there is no verdict, because the service was killed')
  })

  it('fails at once if the service cannot start, and leaves nothing for the end of the job', async ({ folder }) => {
    const job = makeJob(folder)
    const start = await job.action({ fixture: 'agancy' })
    expect(start.code).toBe(2)
    expect(start.stdout).toContain('agancy')
    expect(errorsOf(start)).toBe('the service could not start; the lines above say why')
    expect(await job.end()).toMatchObject({ code: 0, stdout: '' })
  })
})

describe('the action', () => {
  it('hands the inputs on as options', async ({ folder }) => {
    const job = new GithubJob(folder)
    const step = await job.action({
      package: makeProgram(folder),
      run: 'echo run',
      options: `--seed 7 --set-env "A=a \\"b\\" 'c'" 'one word'\\ more --api-key k1`,
      fixture: 'my file.json',
      'fail-on': 'violation',
      'min-coverage': '60',
      report: 'json=a b.json\n  junit=c.xml  \n',
    })
    const words = [...step.stdout.matchAll(/^\[(.*)\]$/gm)].map(([, word]) => word)
    expect(words).toEqual([
      ...['run', '--seed', '7', '--set-env', `A=a "b" 'c'`, 'one word more', '--api-key', 'k1'],
      ...['--fixture=my file.json', '--fail-on=violation', '--min-coverage=60', '--report=json=a b.json'],
      '--report=junit=c.xml',
    ])
    expect(step.stdout).toMatch(/\nrun\n$/)
    expect(commandsIn(step, 'add-mask')).toEqual(['k1', 'k2'])
  })

  const INSTALLS = `for spec; do :; done; echo "installs $spec"
mkdir -p node_modules/dmarc-understudy
echo '{"name": "dmarc-understudy", "bin": {"dmarc-understudy": "a.js"}}' >node_modules/dmarc-understudy/package.json
echo 'console.log("it runs")' >node_modules/dmarc-understudy/a.js`

  it.for<[what: string, inputs: Record<string, string>, spec: RegExp]>([
    ['its own version', {}, /^installs dmarc-understudy@\d+\.\d+\.\d+\S*$/m],
    ['the version', { version: 'v9.8.7' }, /^installs dmarc-understudy@9\.8\.7$/m],
    ['a tarball', { package: 'package.tgz' }, /^installs \/.*\/workspace\/package\.tgz$/m],
  ])('installs %s where the project does not see it', async ([, inputs, spec], { folder }) => {
    const job = new GithubJob(folder, pathWithNpm(folder, INSTALLS))
    writeFileSync(join(job.workspace, 'package.tgz'), '')
    const { stdout } = await job.action({ run: 'true', ...inputs })
    expect(stdout).toMatch(spec)
    expect(stdout).toMatch(/::group::Install [\s\S]*\n::endgroup::\nit runs\n/)
    expect(existsSync(join(job.workspace, 'node_modules'))).toBe(false)
  })

  it('takes a folder with the package, from another folder', async ({ folder }) => {
    const job = makeJob(folder)
    mkdirSync(join(job.workspace, 'inner'))
    const inputs = { run: 'pwd; node ../client.mjs', 'working-directory': 'inner', package: ROOT }
    expect(await job.action(inputs)).toMatchObject({ code: 0, stdout: expect.stringContaining('/workspace/inner\n') })
  })

  const ALL = { run: 'true' }
  it.for<[what: string, inputs: Record<string, string>, npm: string | undefined, code: number, says: string | RegExp]>([
    [
      'a folder',
      { ...ALL, 'working-directory': 'x' },
      undefined,
      2,
      /^working-directory \/.*\/x: there is no such folder$/,
    ],
    [
      'a folder that is a file',
      { ...ALL, 'working-directory': '/etc/passwd' },
      undefined,
      2,
      'working-directory /etc/passwd: there is no such folder',
    ],
    [
      'a command among the options',
      { ...ALL, options: '--fail-on=violation -- true' },
      undefined,
      2,
      'options --fail-on=violation -- true: -- is for a command; give the commands as the input run',
    ],
    [
      'options that leave the commands out',
      { ...ALL, package: ROOT, options: '--help' },
      undefined,
      2,
      'the commands could not start; the lines above say why',
    ],
    ['options', { ...ALL, options: "--seed '7" }, undefined, 2, "options --seed '7: a ' has no end"],
    [
      'a package and a version',
      { ...ALL, package: 'x', version: '1' },
      undefined,
      2,
      'give package or version, not both',
    ],
    ['a package', { ...ALL, package: 'x' }, undefined, 2, /^package \/.*\/x: there is no such file$/],
    [
      'a program as the package',
      { ...ALL, package: '/etc/passwd' },
      undefined,
      2,
      'package /etc/passwd: must be a tarball (.tgz) of the npm package, or a folder with it',
    ],
    ['a foreign package', { ...ALL, package: '.' }, undefined, 2, /^package .*: is not the package dmarc-understudy$/],
    ['a version', { ...ALL, version: '1; ls' }, undefined, 2, 'version 1; ls: is no version, such as 1.2.3'],
    [
      'an unknown version',
      { ...ALL, version: '99.0.0' },
      'echo npm error code ETARGET >&2; exit 1',
      2,
      'npm has no dmarc-understudy@99.0.0',
    ],
    [
      'a registry',
      { ...ALL, version: '1.0.0' },
      'exit 1',
      3,
      'npm could not install dmarc-understudy@1.0.0; its messages are in the log',
    ],
  ])('refuses %s that is wrong with a sentence', async ([, inputs, npm, code, says], { folder }) => {
    const job = new GithubJob(folder, npm === undefined ? {} : pathWithNpm(folder, npm))
    const step = await job.action(inputs)
    expect(step.code).toBe(code)
    expect(errorsOf(step)).toMatch(says)
    expect(await job.end()).toMatchObject({ code: 0, stdout: '' })
  })

  it('says what to do on a machine without npm', async ({ folder }) => {
    const step = await new GithubJob(folder, { PATH: folder }).action(ALL)
    expect(step.code).toBe(2)
    expect(errorsOf(step)).toBe('there is no npm; let actions/setup-node run before')
  })
})
