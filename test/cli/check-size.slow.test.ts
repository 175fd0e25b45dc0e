import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { PROGRAM, runShell } from '../support/program-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'

const MEGABYTES = budget({ quick: 20, full: 200 })
/** The memory that the program may take at most, in megabytes. To read the whole file would take a multiple of its size. */
const MOST = 350

/** Prints at the end how much memory the process had at most, in kilobytes. */
const MEASURE = 'data:text/javascript,process.on("exit",()=>console.log(process.resourceUsage().maxRSS))'

/** Writes a recording of a browser: pictures, and now and then a request to the service. Returns how many of these. */
function writeLarge(file: string): number {
  const picture = { size: 75_000, encoding: 'base64', text: 'A'.repeat(100_000) }
  const [begin = '', end = ''] = harOf(['-']).split('"-"')
  const handle = openSync(file, 'w')
  writeSync(handle, begin)
  let count = 0
  for (let size = 0; size < MEGABYTES * 1e6; count++) {
    const other = entryOf({ url: 'https://pictures.example/1.png', after: count * 100, content: picture })
    const entries = `${count === 0 ? '' : ','}${JSON.stringify(other)},\n${JSON.stringify(entryOf({ after: count * 100 }))}`
    size += writeSync(handle, entries)
  }
  writeSync(handle, end)
  closeSync(handle)
  return count
}

it(`check reads ${MEGABYTES} MB with less than ${MOST} MB of memory`, async ({ folder }) => {
  const file = join(folder, 'large.har')
  const count = writeLarge(file)
  const { stdout, stderr } = await runShell(
    `'${process.execPath}' --import '${MEASURE}' '${PROGRAM}' check '${file}'`,
    { folder },
  )
  expect(stderr).toContain(`${count} of ${count} exchanges that could be judged`)
  expect(Number(stdout) / 1024).toBeLessThan(MOST)
}, 120_000)
