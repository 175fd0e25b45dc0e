import { readdirSync, readFileSync } from 'node:fs'

/** The fields of a process after its name, as /proc has them; none if the system does not tell them. */
function readStatFields(pid: number | string): readonly string[] {
  try {
    // The name of the program is in parentheses. It may contain spaces and parentheses.
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return []
  }
}

/** Whether a process of the group runs. One that has ended counts no more, also if nobody has asked for its end. */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const listed = listFolders()
  if (listed.length === 0) return true
  return listed.some((pid) => {
    const [state = 'Z', , ofProcess] = readStatFields(pid)
    return ofProcess === `${group}` && !'ZX'.includes(state)
  })
}

/** The names of the processes in /proc; none if there is no such folder. */
function listFolders(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}
