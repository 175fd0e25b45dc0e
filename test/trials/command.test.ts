import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CommandEnd, type CommandRun, exitCodeOf, runCommand } from '../../src/trials/command.ts'
import { IS_FULL_BUDGET } from '../support/budget.ts'
import { eventually, findProcesses, sleeper } from '../support/processes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Runs a line of a shell, whose output is kept. */
function runLine(line: string, more: Partial<CommandRun> = {}): Promise<CommandEnd> {
  return runCommand({ command: ['sh', '-c', line], environment: process.env, inherits: false, ...more })
}

/** Signals of a test in the place of those of this process. */
function openSignals() {
  const listeners = new Set<(signal: NodeJS.Signals) => void>()
  return {
    send(signal: NodeJS.Signals): void {
      for (const listener of [...listeners]) listener(signal)
    },
    onSignal(listener: (signal: NodeJS.Signals) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    listeners,
  }
}

describe.concurrent('a command', () => {
  it.for<[line: string, code: number, end: Partial<CommandEnd>]>([
    ['exit 0', 0, { exitCode: 0 }],
    ['exit 3', 3, { exitCode: 3 }],
    ['kill -TERM $$', 143, { signal: 'SIGTERM' }],
    ['kill -KILL $$', 137, { signal: 'SIGKILL' }],
    ['kill -INT $$', 130, { signal: 'SIGINT' }],
  ])('that does "%s" ends with %i, as a shell says', async ([line, code, end]) => {
    const result = await runLine(line)
    expect(result).toMatchObject({ timedOut: false, leftBehind: [], ...end })
    expect(exitCodeOf(result)).toBe(code)
  })

  it('has what it is given, reads nothing, and leaves the end of what it writes', async () => {
    const environment = { ...process.env, GIVEN: 'a value' }
    const command = ['sh', '-c', 'cat; echo "$GIVEN $1"; echo error >&2', 'sh', 'two  words']
    const { output, seconds } = await runCommand({ command, environment, inherits: false })
    expect(output.split('\n').toSorted()).toEqual(['', 'a value two  words', 'error'])
    expect(seconds).toBeGreaterThan(0)
  })

  it('may write megabytes', async () => {
    const { output, exitCode } = await runLine("head -c 5000000 /dev/zero | tr '\\0' x; echo the end; exit 4")
    expect(exitCode).toBe(4)
    expect(output).toHaveLength(65_536)
    expect(output).toMatch(/^x+the end\n$/)
  })

  it.for<[what: string, line: (sleep: string) => string]>([
    ['in the background', (sleep) => `${sleep} & true`],
    ['with nohup', (sleep) => `nohup ${sleep} >/dev/null 2>&1 & true`],
    ['in a session of its own', (sleep) => `setsid ${sleep} & true`],
    ['as a daemon', (sleep) => `(setsid sh -c '${sleep} & exec >/dev/null' &); true`],
    ['whose parents have ended long before', (sleep) => `(sh -c '${sleep} &' &); sleep 1`],
    ['in a session of its own with another environment', (sleep) => `setsid env -i ${sleep} & sleep 1`],
    ['that is stopped', (sleep) => `${sleep} & sleep 0.2; kill -STOP $!`],
  ])('leaves no process behind %s', async ([, line]) => {
    const sleep = sleeper()
    const { leftBehind, exitCode } = await runLine(line(sleep))
    expect(findProcesses(sleep.slice(6))).toEqual([])
    expect({ leftBehind: new Set(leftBehind), exitCode }).toEqual({ leftBehind: new Set(['sleep']), exitCode: 0 })
  })

  // It has a fifth of a second, in which a machine may do something else.
  it('may start what ends by itself soon after it, such as a tee', { retry: 5 }, async () => {
    const folder = temporaryFolder()
    const { leftBehind } = await runLine(`(sleep 0.01; echo late >${folder}/log) & true`)
    expect(leftBehind).toEqual([])
  })

  it('is not waited for because of a process that cannot be found and keeps its output open', async () => {
    const sleep = sleeper()
    // Nobody sees who was its parent, and it has nothing of the environment.
    const { output, seconds } = await runLine(`setsid env -i setsid ${sleep} & echo done`)
    for (const pid of findProcesses(sleep.slice(6))) process.kill(pid, 'SIGKILL')
    expect(output).toBe('done\n')
    expect(seconds).toBeLessThan(5)
  })

  it('is found by whoever runs what runs it', async () => {
    const inner = await runLine('printenv UNDERSTUDY_PROCESS', {
      environment: { ...process.env, UNDERSTUDY_PROCESS: 'outer' },
    })
    expect(inner.output).toMatch(/^outer \S+\n$/)
  })
})

describe.concurrent('a command that runs too long', () => {
  it('is ended with everything that it has started', async () => {
    const sleeps = [sleeper(), sleeper()]
    const result = await runLine(`setsid ${sleeps[0]} & ${sleeps[1]}`, { timeout: 300 })
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGTERM', leftBehind: [] })
    expect(exitCodeOf(result)).toBe(124)
    for (const sleep of sleeps) expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('may end in its own way, but has failed all the same', async () => {
    const result = await runLine("trap 'echo cleaned up; exit 0' TERM; sleep 60 & wait", { timeout: 1500 })
    expect(result).toMatchObject({ timedOut: true, exitCode: 0, output: 'cleaned up\n' })
    expect(exitCodeOf(result)).toBe(124)
  })

  it('and ignores SIGTERM is killed 5 s later, and so are its children', async () => {
    // The quick run has less patience.
    const patience = IS_FULL_BUDGET ? undefined : 500
    const sleep = sleeper()
    const line = `trap '' TERM; setsid sh -c "trap '' TERM; ${sleep}" & wait; wait; while true; do sleep 1; done`
    const result = await runLine(line, { timeout: 1500, patience })
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
    expect(result.seconds).toBeGreaterThan(IS_FULL_BUDGET ? 5 : 0.5)
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('is not one that may take longer than a timer can be set', async () => {
    expect(await runLine('sleep 0.1', { timeout: 1e13 })).toMatchObject({ exitCode: 0, timedOut: false })
  })
})

describe.concurrent('a command that is to be ended', () => {
  it('is, by an abort, with everything that it has started', async () => {
    const [sleep, ending] = [sleeper(), new AbortController()]
    const running = runLine(`setsid ${sleep} & wait`, { signal: ending.signal })
    await eventually('it runs', () => findProcesses(sleep.slice(6)).length > 0)
    ending.abort()
    expect(await running).toMatchObject({ signal: 'SIGTERM', timedOut: false, interruptedBy: undefined })
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('is, by an abort that came before it', async () => {
    expect(await runLine(sleeper(), { signal: AbortSignal.abort() })).toMatchObject({ signal: 'SIGTERM' })
  })

  it.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'gets the %s that we get, and so do its children',
    async (signal) => {
      const [folder, signals, name] = [temporaryFolder(), openSignals(), signal.slice(3)]
      const child = `sh -c "trap 'echo child; exit' ${name}; touch ${folder}/ready; while true; do sleep 0.05; done"`
      const line = `trap 'echo command; exit 7' ${name}; ${child}; true`
      const running = runLine(line, { onSignal: signals.onSignal })
      await eventually('both run', () => existsSync(join(folder, 'ready')))
      signals.send(signal)
      const result = await running
      expect(result).toMatchObject({
        exitCode: 7,
        interruptedBy: signal,
        output: expect.stringMatching(/child\n[\s\S]*command\n/),
      })
      expect(findProcesses(folder)).toEqual([])
      expect(signals.listeners.size).toBe(0)
    },
  )

  it('is killed at once by a second signal, and counts as ended by the first', async () => {
    const [sleep, signals] = [sleeper(), openSignals()]
    const running = runLine(`trap '' INT; ${sleep} & wait; wait`, { onSignal: signals.onSignal })
    await eventually('it runs', () => findProcesses(sleep.slice(6)).length > 1)
    const told = performance.now()
    signals.send('SIGINT')
    signals.send('SIGTERM')
    const result = await running
    // Without the second signal, it would be killed 5 s after the first.
    expect(performance.now() - told).toBeLessThan(5000)
    expect(result).toMatchObject({ signal: 'SIGKILL', interruptedBy: 'SIGINT' })
    expect(exitCodeOf(result)).toBe(130)
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('gets a signal that came while it was started', async () => {
    const signals = openSignals()
    const running = runLine(sleeper(), { onSignal: signals.onSignal })
    signals.send('SIGTERM')
    expect(await running).toMatchObject({ signal: 'SIGTERM', interruptedBy: 'SIGTERM' })
  })
})

describe('a command that cannot start', () => {
  const refuse = (program: string, ...args: string[]) =>
    runCommand({ command: [program, ...args], environment: process.env, inherits: false })

  it('is one that is not there', async () => {
    const message = 'no-such-command: there is no such command'
    await expect(refuse('no-such-command')).rejects.toMatchObject({ name: 'CommandError', message, exitCode: 127 })
    await expect(refuse('./no/such/command')).rejects.toMatchObject({ exitCode: 127 })
  })

  it('is one that is there and is no program', async () => {
    const folder = temporaryFolder()
    const file = (name: string, text: string, mode: number) => {
      writeFileSync(join(folder, name), text)
      chmodSync(join(folder, name), mode)
      return join(folder, name)
    }
    mkdirSync(join(folder, 'folder'))
    const cases: [program: string, reason: RegExp][] = [
      [file('plain', 'true', 0o644), /plain: cannot be run: it is not executable/],
      [file('orphan', '#!/no/such/interpreter\n', 0o755), /cannot be run: the program that its first line names/],
      [join(folder, 'folder'), /folder: cannot be run/],
    ]
    for (const [program, reason] of cases) {
      await expect(refuse(program)).rejects.toMatchObject({
        message: expect.stringMatching(reason),
        exitCode: 126,
      })
    }
  })

  it('is one whose arguments are too long', async () => {
    await expect(refuse('true', 'x'.repeat(10_000_000))).rejects.toMatchObject({
      message: 'true: cannot be run: its arguments and its environment are too long for the system',
      exitCode: 126,
    })
  })

  it('is one whose name no program can have', async () => {
    await expect(refuse('a\0b')).rejects.toMatchObject({ name: 'CommandError' })
  })
})
