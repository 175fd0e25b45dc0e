import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { blocksOf } from '../support/documents.ts'
import { ACTION } from '../support/github-job.ts'
import { problemsOf } from '../support/github-schema.ts'
import { ROOT } from '../support/program-process.ts'

interface Step {
  uses?: string
  with?: Record<string, unknown>
  run?: string
}
interface Job {
  needs?: string | string[]
  permissions?: Record<string, string>
  'timeout-minutes'?: number
  steps: Step[]
}
interface Workflow {
  permissions: Record<string, string>
  jobs: Record<string, Job>
}

const FOLDER = '.github/workflows'
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const workflows = readdirSync(join(ROOT, FOLDER)).map((name) => ({
  path: join(FOLDER, name),
  text: textOf(join(FOLDER, name)),
}))
const JOB = 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n'
/** The workflows that the documentation shows. */
const examples = ['README.md', 'docs/ci.md'].flatMap((path) =>
  blocksOf(textOf(path))
    .filter(({ language, content }) => language === 'yaml' && / (uses|runs-on): /.test(content))
    // A block of steps alone is a part of a job.
    .map(({ content }, index) => ({
      path: `${path} ${index}`,
      text: /^ {6}- /.test(content) ? JOB + content : content,
    })),
)
const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
const stepsOf = (text: string) => Object.values((load(text) as Workflow).jobs).flatMap(({ steps }) => steps)

describe('action.yml', () => {
  it('is an action', () => {
    expect(problemsOf('action', textOf('action.yml'))).toEqual([])
    expect(problemsOf('action', textOf('action.yml').replace('post-if', 'postif'))).not.toEqual([])
  })

  it('names files that exist', () => {
    expect([ACTION.runs.main, ACTION.runs.post].map((file) => existsSync(join(ROOT, file)))).toEqual([true, true])
  })
})

describe.each([...workflows, ...examples])('the workflow $path', ({ text }) => {
  it('is one', () => {
    expect(problemsOf('workflow', text)).toEqual([])
    expect(problemsOf('workflow', text.replace('runs-on', 'runson'))).not.toEqual([])
  })

  it('uses actions of a major version, and gives ours only inputs that it has', () => {
    for (const { uses, with: inputs = {} } of stepsOf(text)) {
      if (uses === undefined) continue
      expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+(\.\d+\.\d+)?$/)
      if (uses.startsWith('dmarc-understudy/')) {
        expect(Object.keys(inputs).filter((name) => !Object.hasOwn(ACTION.inputs, name))).toEqual([])
      }
    }
  })
})

describe.each(workflows)('the workflow $path', ({ text }) => {
  const { permissions, jobs } = load(text) as Workflow

  it('runs scripts that exist', () => {
    const run = stepsOf(text)
      .map(({ run = '' }) => run)
      .join('\n')
    for (const [, script = ''] of run.matchAll(/npm run (?:--silent )?([\w:]+)/g))
      expect(scripts).toHaveProperty(script)
    for (const [file] of run.matchAll(/(?:scripts|\.ci)\/[\w.-]+/g))
      expect(existsSync(join(ROOT, file)), file).toBe(true)
  })

  it('has no more permissions than a job needs, and ends', () => {
    expect(Object.values(permissions).filter((each) => each !== 'read')).toEqual([])
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60)
  })
})

describe('the release', () => {
  const { jobs } = load(textOf(join(FOLDER, 'release.yml'))) as Workflow

  it('lets a job write only what it publishes', () => {
    const writes = Object.entries(jobs).map(([name, { permissions = {} }]) => [
      name,
      Object.keys(permissions).filter((each) => permissions[each] === 'write'),
    ])
    expect(Object.fromEntries(writes)).toEqual({
      check: [],
      package: ['id-token', 'attestations'],
      npm: ['id-token'],
      image: ['packages'],
      release: ['contents'],
    })
  })

  it('publishes what was checked, and tells everybody last', () => {
    const needs = Object.entries(jobs).map(([name, job]) => [name, [job.needs ?? []].flat()])
    expect(Object.fromEntries(needs)).toEqual({
      ...{ check: [], package: ['check'], npm: ['package'], image: ['package'] },
      release: ['npm', 'image'],
    })
  })

  it('runs no code of the project where it could write', () => {
    for (const name of ['npm', 'image', 'release']) {
      expect(jobs[name]?.steps.some(({ uses = '' }) => uses.startsWith('actions/checkout'))).toBe(false)
    }
  })
})
