import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { ROOT, spawnCommand } from './program-process.ts'
import type { Result, RunningProgram } from './running-program.ts'

interface Action {
  inputs: Readonly<Record<string, { default?: string }>>
  runs: { steps: [{ run: string; env: Readonly<Record<string, string>>; 'working-directory': string }] }
}

const ACTION = load(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as Action

/** A step of a job as its page shows it. */
export interface Step extends Result {
  summary: string
}

/** Runs the action in a folder, as the runner of GitHub does. `started` gets it while it runs. */
export async function runAction(
  folder: string,
  inputs: Readonly<Record<string, string>>,
  started?: (running: RunningProgram) => void,
): Promise<Step> {
  const unknown = Object.keys(inputs).filter((name) => !Object.hasOwn(ACTION.inputs, name))
  if (unknown.length > 0) throw new Error(`action.yml has no input ${unknown.join(', ')}.`)
  const expand = (text: string) =>
    text.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name) => inputs[name] ?? ACTION.inputs[name]?.default ?? '')
  const [step] = ACTION.runs.steps
  const temp = join(folder, 'temp')
  mkdirSync(temp)
  const [script, summary] = [join(temp, 'step.sh'), join(temp, 'summary.md')]
  writeFileSync(script, step.run)
  writeFileSync(summary, '')
  const environment = {
    ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder, RUNNER_TEMP: temp },
    GITHUB_STEP_SUMMARY: summary,
    ...Object.fromEntries(Object.entries(step.env).map(([name, text]) => [name, expand(text)])),
  }
  const command = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', script]
  const running = spawnCommand(command, { folder: join(folder, expand(step['working-directory'])), environment })
  started?.(running)
  return { ...(await running.ended), summary: readFileSync(summary, 'utf8') }
}

/** The texts of the commands of this name that the runner finds in the log. */
export function commandsIn({ stdout, stderr }: Result, name: string): string[] {
  const lines = `${stdout}\n${stderr}`.split('\n')
  return lines.flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
}
