import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { eventually, sleeper, sleeping } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { PROGRAM } from '../support/program-process.ts'
import { startInTerminal } from '../support/pseudo-terminal.ts'

const RUN = `'${process.execPath}' --no-opt '${PROGRAM}' run --`
const CTRL_C = '\u0003'

describe('run in a terminal', () => {
  it('leaves it to the command, which may end by Ctrl-C as it likes, and has colours itself', async ({ folder }) => {
    writeFileSync(
      join(folder, 'client.sh'),
      'trap "count=x$count" INT; test -t 0 && test -t 1 && test -t 2 && echo ready; read line; echo "got $count $line"; exit 7',
    )
    const running = startInTerminal(`NO_COLOR= FORCE_COLOR= ${RUN} bash '${folder}/client.sh'`)
    await running.prints(/ready/)
    running.type(CTRL_C)
    // As a debugger, it goes on.
    running.type('line\n')
    const { code, stdout } = await running.ended
    expect({ code, once: /got x line\b/.test(stdout) }, stdout).toEqual({ code: 7, once: true })
    expect(stdout).toContain('\u001b[31mFAILED\u001b[39m')
  })

  it('ends a command that does not end by Ctrl-C, when it is pressed again', async () => {
    const sleep = sleeper()
    const ignoring = `trap 'echo ignored' INT; echo ready; while :; do ${sleep} & wait; done`
    const running = startInTerminal(`${RUN} sh -c "${ignoring}"`)
    await running.prints(/ready/)
    let hasEnded = false
    void running.ended.then(() => {
      hasEnded = true
    })
    // The program shows nothing of the first one, and two at once would be one.
    await eventually('it has ended', () => {
      if (!hasEnded) running.type(CTRL_C)
      return hasEnded
    })
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(sleeping(sleep)).toEqual([])
  })

  it('ends with everything when the terminal is closed', async () => {
    const sleep = sleeper()
    const running = startInTerminal(`${RUN} sh -c "echo ready; ${sleep} & ${sleep}"`)
    await running.prints(/ready/)
    await eventually('both sleep', () => sleeping(sleep).length > 2)
    running.stop('SIGKILL')
    await eventually('all have ended', () => sleeping(sleep).length === 0)
  })
})
