import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { ROOT, spawnCommand } from './program-process.ts'
import type { Result, RunningProgram } from './running-program.ts'

interface Action {
  inputs: Readonly<Record<string, { default?: string }>>
  outputs: Readonly<Record<string, unknown>>
  runs: { main: string; post: string; 'post-if': string }
}

const ACTION = load(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as Action

/** A step of a job as its page shows it. */
export interface Step extends Result {
  outputs: Readonly<Record<string, string>>
  summary: string
}

/** The files by which a step hands something on. The runner makes new ones for each step. */
const FILES = ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY'] as const

/** A job that runs steps one after the other, as the runner of GitHub does. */
export class GithubJob {
  readonly workspace: string
  /** What the action hands on to its end. */
  state: Readonly<Record<string, string>> = {}
  readonly #folder: string
  readonly #environment: Record<string, string>
  #steps = 0

  constructor(folder: string, environment: Record<string, string> = {}) {
    this.#folder = folder
    this.workspace = join(folder, 'workspace')
    mkdirSync(this.workspace, { recursive: true })
    mkdirSync(join(folder, 'temp'))
    this.#environment = {
      ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: this.workspace, RUNNER_TEMP: join(folder, 'temp') },
      ...environment,
    }
  }

  /** A step `uses` the action `with` these inputs; `started` gets it while it runs. */
  action(inputs: Readonly<Record<string, string>> = {}, started?: (running: RunningProgram) => void): Promise<Step> {
    const unknown = Object.keys(inputs).filter((name) => !Object.hasOwn(ACTION.inputs, name))
    if (unknown.length > 0) throw new Error(`action.yml has no input ${unknown.join(', ')}.`)
    const given: [string, string][] = Object.entries(ACTION.inputs).map(([name, { default: usual = '' }]) => [
      `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
      inputs[name] ?? usual,
    ])
    return this.#step(
      [process.execPath, join(ROOT, ACTION.runs.main)],
      {
        ...Object.fromEntries(given),
        ACTIONS_RUNTIME_TOKEN: 'only for actions',
      },
      started,
    )
  }

  /** The part of the action that runs when the job ends. */
  end(): Promise<Step> {
    const state = Object.entries(this.state).map(([name, value]) => [`STATE_${name}`, value])
    return this.#step([process.execPath, join(ROOT, ACTION.runs.post)], Object.fromEntries(state))
  }

  /** A step that runs commands with `shell: bash`. */
  run(commands: string): Promise<Step> {
    const script = join(this.#folder, `step-${this.#steps}.sh`)
    writeFileSync(script, commands)
    return this.#step(['bash', '--noprofile', '--norc', '-eo', 'pipefail', script], {})
  }

  async #step(
    command: string[],
    more: Record<string, string>,
    started?: (running: RunningProgram) => void,
  ): Promise<Step> {
    const files = FILES.map((name) => [name, join(this.#folder, `${name}-${this.#steps}`)] as const)
    this.#steps++
    for (const [, file] of files) writeFileSync(file, '')
    const environment = { ...this.#environment, ...more, ...Object.fromEntries(files) }
    const running = spawnCommand(command, { folder: this.workspace, environment })
    started?.(running)
    const result = await running.ended
    const [output = '', variables = '', state = '', summary = ''] = files.map(([, file]) => readFileSync(file, 'utf8'))
    Object.assign(this.#environment, readPairs(variables))
    this.state = { ...this.state, ...readPairs(state) }
    return { ...result, outputs: readPairs(output), summary }
  }
}

function readPairs(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const [, name, value = ''] = /^(\w[\w-]*)=(.*)$/.exec(line) ?? []
      if (name === undefined) throw new Error(`${line}: the runner cannot read this.`)
      return [name, value]
    }),
  )
}

/** The texts of the commands of this name that the runner finds in the log. */
export function commandsIn({ stdout, stderr }: Result, name: string): string[] {
  const lines = `${stdout}\n${stderr}`.split('\n')
  return lines.flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
}
