import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/cli/options.ts'
import { checkReports, deliverReport, REPORT_OPTIONS } from '../../src/cli/reports.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { report } from '../reports/sample-report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A terminal that keeps what is written to standard error; nothing else of it may be used. */
function quietTerminal(environment: NodeJS.ProcessEnv = {}) {
  const lines: string[] = []
  const screen: Terminal['screen'] = { size: undefined, colours: false }
  const terminal = { environment, screen, printError: (line: string) => void lines.push(line) } as Terminal
  return { terminal, lines }
}

const read = (args: readonly string[], environment = {}) => readOptions(REPORT_OPTIONS, args, environment).values.report

describe('--report', () => {
  it('takes several reports, from the arguments or the environment', () => {
    const both = [
      { format: 'json', file: 'a' },
      { format: 'json', file: 'b' },
    ]
    expect(read([])).toEqual([])
    expect(read(['--report', 'json=a', '--report=json=b'])).toEqual(both)
    expect(read([], { DMARC_UNDERSTUDY_REPORT: 'json=a,json=b' })).toEqual(both)
  })

  it('says of one that does not fit what would be right', () => {
    expect(() => read(['--report', 'json=a', '--report', 'jsn=b'])).toThrow('--report jsn=b: did you mean json=b?')
    expect(() => read([], { DMARC_UNDERSTUDY_REPORT: 'json=' })).toThrow(
      'DMARC_UNDERSTUDY_REPORT json=: must name a file, such as json=report.json',
    )
  })

  it('refuses a file that cannot be written before the work begins', async () => {
    await expect(checkReports([{ format: 'json', file: '/none/r.json' }])).rejects.toMatchObject({
      name: 'UsageError',
      message: '--report json=/none/r.json: its folder does not exist; create it, or name another file',
    })
  })
})

describe('the delivery of a report', () => {
  it('writes the summary to standard error and the reports to their files, and has the exit code of the report', async () => {
    const file = join(temporaryFolder(), 'r.json')
    const { terminal, lines } = quietTerminal()
    expect(await deliverReport(report({ exitCode: 7 }), [{ format: 'json', file }], terminal)).toBe(7)
    expect(lines.at(-1)).toBe('FAILED  1 request violates the contract, of 12.')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(report().json)
  })

  it('ends with 3 and names the report that could not be written', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    const [bad, good] = [join(folder, 'file', 'r'), join(folder, 'good')]
    const { terminal, lines } = quietTerminal()
    const targets = [bad, good].map((file) => ({ format: 'json', file }) as const)
    expect(await deliverReport(report({ findings: [] }), targets, terminal)).toBe(3)
    expect(lines.at(-1)).toBe(`dmarc-understudy: --report json=${bad}: is below a file; name a file in a folder`)
    expect(existsSync(good)).toBe(true)
  })
})
