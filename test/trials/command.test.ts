import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { type CommandEnd, type CommandRun, exitCodeOf, runCommand } from '../../src/trials/command.ts'
import { eventually, findProcesses, sleeper, sleeping } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { replaceTime } from '../support/replaced-time.ts'

/** Runs a line of a shell, whose output is kept. */
function runLine(line: string, more: Partial<CommandRun> = {}): Promise<CommandEnd> {
  return runCommand({ command: ['sh', '-c', line], environment: process.env, inherits: false, ...more })
}

describe.concurrent('a command', () => {
  it.for<[line: string, code: number, end: Partial<CommandEnd>]>([
    ['exit 0', 0, { exitCode: 0 }],
    ['exit 3', 3, { exitCode: 3 }],
    ['kill -KILL $$', 137, { signal: 'SIGKILL' }],
  ])('that does "%s" ends with %i, as a shell says', async ([line, code, end]) => {
    const result = await runLine(line)
    expect(result).toMatchObject({ timedOut: false, hasLeftBehind: false, ...end })
    expect(exitCodeOf(result)).toBe(code)
  })

  it.for<[end: Partial<CommandEnd>, code: number]>([
    [{ signal: 'SIGTERM' }, 143],
    [{ exitCode: 0, timedOut: true }, 124],
    [{ signal: 'SIGKILL', interruptedBy: 'SIGINT' }, 130],
    [{ signal: 'SIGTERM', interruptedBy: 'SIGINT' }, 143],
    [{ exitCode: 7, interruptedBy: 'SIGINT' }, 7],
    [{}, 1],
  ])('that ends as %j has the exit code %i', ([end, code]) => {
    const usual = { exitCode: undefined, signal: undefined, timedOut: false, interruptedBy: undefined }
    expect(exitCodeOf({ ...usual, seconds: 0, output: '', hasLeftBehind: false, ...end })).toBe(code)
  })

  it('has what it is given, reads nothing, and leaves the end of what it writes', async () => {
    const environment = { ...process.env, GIVEN: 'a value' }
    const line = 'cat; echo "$GIVEN $1"; echo error >&2'
    const { output } = await runCommand({
      command: ['sh', '-c', line, 'sh', 'two  words'],
      environment,
      inherits: false,
    })
    expect(output).toMatch(/^(error\n)?a value two {2}words\n(error\n)?$/)
    expect(output).toContain('error')
  })
})

describe('a command that cannot start', () => {
  const refuse = (program: string, ...args: string[]) =>
    runCommand({ command: [program, ...args], environment: process.env, inherits: false })

  it('is one that is there and is no program', async ({ folder }) => {
    const file = (name: string, text: string, mode: number) => {
      writeFileSync(join(folder, name), text)
      chmodSync(join(folder, name), mode)
      return join(folder, name)
    }
    mkdirSync(join(folder, 'folder'))
    const cases: [program: string, reason: RegExp][] = [
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
})

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
  it('may write much', async () => {
    const { output, exitCode } = await runLine("head -c 500000 /dev/zero | tr '\\0' x; echo the end; exit 4")
    expect(exitCode).toBe(4)
    expect(output).toHaveLength(65_536)
    expect(output).toMatch(/^x+the end\n$/)
  })

  it('leaves no process of its group behind, and a daemon that has a group of its own goes on', async ({ folder }) => {
    const ways: readonly ((sleep: string) => string)[] = [
      (sleep) => `${sleep} &`,
      (sleep) => `nohup ${sleep} >/dev/null 2>&1 &`,
      (sleep) => `${sleep} & while ! grep -q sleep /proc/$!/cmdline; do :; done; kill -STOP $!;`,
    ]
    const [sleeps, daemon, enough] = [ways.map(sleeper), sleeper(), join(folder, 'enough')]
    const started = [...ways.map((way, at) => way(sleeps[at] ?? '')), `setsid ${daemon} >/dev/null 2>&1 &`].join(' ')
    const running = runLine(`${started} while [ ! -e '${enough}' ]; do sleep 0.05; done`)
    await eventually('all sleep', () => [...sleeps, daemon].every((sleep) => sleeping(sleep).length > 0))
    writeFileSync(enough, '')
    expect(await running).toMatchObject({ hasLeftBehind: true, exitCode: 0 })
    for (const sleep of sleeps) expect(sleeping(sleep), sleep).toEqual([])
    const alive = sleeping(daemon)
    expect(alive).not.toEqual([])
    for (const pid of alive) process.kill(pid)
  })

  it('that leaves nothing behind but a process that ends by itself ends as it is', async () => {
    expect(await runLine('sleep 0.05 & exit 0')).toMatchObject({ hasLeftBehind: false, exitCode: 0 })
  })
})

/** Runs a line until it is there, and then lets time pass: a timeout of a minute, and what comes after it. */
async function runTooLong(line: string, isThere: () => boolean, after: () => void = () => {}) {
  const goOn = replaceTime(['setTimeout', 'clearTimeout'])
  const running = runLine(line, { timeout: 60_000 })
  await eventually('it runs, and its time is limited', () => vi.getTimerCount() > 0 && isThere())
  vi.advanceTimersByTime(59_999)
  expect(isThere()).toBe(true)
  vi.advanceTimersByTime(1)
  after()
  goOn()
  return running
}

describe('a command that runs too long', () => {
  it('is ended with everything that it has started', async () => {
    const sleeps = [sleeper(), sleeper()]
    const are = (count: number) => sleeps.every((sleep) => sleeping(sleep).length >= count)
    const result = await runTooLong(`${sleeps[0]} & ${sleeps[1]}`, () => are(1))
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGTERM', hasLeftBehind: false })
    expect(exitCodeOf(result)).toBe(124)
    for (const sleep of sleeps) expect(sleeping(sleep)).toEqual([])
  })

  it('and ignores SIGTERM is killed 5 s later, and so are its children', async ({ folder }) => {
    const [sleep, file] = [sleeper(), join(folder, 'ready')]
    const child = `trap '' TERM; touch '${file}'; while true; do sleep 0.1; : ${sleep}; done`
    const isThere = () => existsSync(file) && sleeping(sleep).length > 0
    const result = await runTooLong(`trap '' TERM; sh -c "${child}" & wait; wait`, isThere, () => {
      vi.advanceTimersByTime(4_999)
      expect(sleeping(sleep).length).toBeGreaterThan(0)
      vi.advanceTimersByTime(1)
    })
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
    expect(sleeping(sleep)).toEqual([])
  })
})

describe.concurrent('a command that is to be ended', () => {
  it('is, by an abort, with everything that it has started', async () => {
    const [sleep, ending] = [sleeper(), new AbortController()]
    const running = runLine(`${sleep} & wait`, { signal: ending.signal })
    await eventually('it runs', () => sleeping(sleep).length > 0)
    ending.abort()
    expect(await running).toMatchObject({ signal: 'SIGTERM', timedOut: false, interruptedBy: undefined })
    expect(sleeping(sleep)).toEqual([])
  })

  it('is, by an abort that came before it', async () => {
    expect(await runLine(sleeper(), { signal: AbortSignal.abort() })).toMatchObject({ signal: 'SIGTERM' })
  })

  it('gets the signal that we get, and so do its children', async ({ folder }) => {
    const signals = openSignals()
    const child = `sh -c "trap 'echo child; exit' HUP; touch ${folder}/ready; while true; do sleep 0.05; done"`
    const line = `trap 'echo command; exit 7' HUP; ${child}; true`
    const running = runLine(line, { onSignal: signals.onSignal })
    await eventually('both run', () => existsSync(join(folder, 'ready')))
    signals.send('SIGHUP')
    const output = expect.stringMatching(/child\n[\s\S]*command\n/)
    expect(await running).toMatchObject({ exitCode: 7, interruptedBy: 'SIGHUP', output })
    expect(findProcesses(folder)).toEqual([])
    expect(signals.listeners.size).toBe(0)
  })

  it('is killed at once by a second signal, and counts as ended by the first', async () => {
    const [sleep, signals] = [sleeper(), openSignals()]
    // Without the second signal, nobody would end it for long.
    const running = runLine(`trap '' INT; ${sleep} & wait; wait`, { onSignal: signals.onSignal, patience: 1e8 })
    await eventually('it runs', () => sleeping(sleep).length > 1)
    signals.send('SIGINT')
    signals.send('SIGTERM')
    const result = await running
    expect(result).toMatchObject({ signal: 'SIGKILL', interruptedBy: 'SIGINT' })
    expect(exitCodeOf(result)).toBe(130)
    expect(sleeping(sleep)).toEqual([])
  })
})
