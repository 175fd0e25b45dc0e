import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { it } from '../support/program.ts'
import { PROGRAM, runShell } from '../support/program-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'

/** Prints at the end how much memory the process had at most, in kilobytes. */
const MEASURE = 'data:text/javascript,process.on("exit",()=>console.log(process.resourceUsage().maxRSS))'

it('check reads 200 MB with less than 600 MB of memory', async ({ folder }) => {
  // The recording of a browser has pictures, and now and then a request to the service.
  // The text of the file and its values are in memory at the same time, but not its bytes.
  const picture = { size: 75_000, encoding: 'base64', text: 'A'.repeat(100_000) }
  const file = join(folder, 'large.har')
  const [begin = '', end = ''] = harOf(['-']).split('"-"')
  const handle = openSync(file, 'w')
  writeSync(handle, begin)
  for (let count = 0; count < 2000; count++) {
    const other = entryOf({ url: 'https://pictures.example/1.png', after: count * 100, content: picture })
    const entries = [other, entryOf({ after: count * 100 })].map((entry) => JSON.stringify(entry))
    writeSync(handle, `${count === 0 ? '' : ','}${entries.join(',\n')}`)
  }
  writeSync(handle, end)
  closeSync(handle)
  const { stdout, stderr } = await runShell(`'${process.execPath}' --import '${MEASURE}' '${PROGRAM}' check '${file}'`)
  expect(stderr).toContain('2000 of 2000 exchanges that could be judged')
  expect(Number(stdout) / 1024).toBeLessThan(600)
})
