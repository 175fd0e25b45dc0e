import { spawn } from 'node:child_process'
import { environmentWith, follow, type RunningProgram } from './running-program.ts'

/** A line of a shell that runs in the foreground of a terminal of its own. */
export interface InTerminal extends RunningProgram {
  /** Types this. `\u0003` is Ctrl-C. */
  type(text: string): void
}

/**
 * Starts a line of a shell in a terminal. The shell leaves its place to the program, because some shells would end by the
 * Ctrl-C that the program outlives. The terminal has its output and its error on standard output, colours and all.
 */
export function startInTerminal(line: string): InTerminal {
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', `exec env ${line}`, '/dev/null'], {
    env: { ...environmentWith(), SHELL: '/bin/sh', TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // It may have ended.
  child.stdin.on('error', () => {})
  return { ...follow(child), type: (text) => void child.stdin.write(text) }
}
