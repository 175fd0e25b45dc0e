import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** The ids of the processes that run with this text among their arguments. */
export function findProcesses(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const isAlive = !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${name}/stat`, 'utf8'))
      return isAlive && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** Waits until a condition holds; the processes of a test tell nobody what they do. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 20) {
    if (waited > 100_000) throw new Error(`It did not happen within 100 s: ${what}`)
    await pause(20)
  }
}

let sleepers = 0

/** A command that sleeps for long and that no other test has, so that one sees whether it still runs. */
export function sleeper(): string {
  return `sleep 9${process.pid}.${`${++sleepers}`.padStart(4, '0')}`
}

/** The processes that sleep so, and those whose arguments tell of it. */
export function sleeping(sleep: string): number[] {
  return findProcesses(sleep.slice('sleep '.length))
}
