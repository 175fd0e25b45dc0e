import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deliverReport } from '../../src/cli/reports.ts'
import { makeDiscreet, type Terminal } from '../../src/cli/terminal.ts'
import { finding, report } from '../reports/sample-report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A terminal that keeps what is written to standard error; nothing else of it may be used. */
function quietTerminal(environment: NodeJS.ProcessEnv = {}) {
  const lines: string[] = []
  const screen: Terminal['screen'] = { columns: undefined, colours: false }
  const writeError = (text: string) => void lines.push(text.trimEnd())
  const terminal = { environment, screen, writeError } as Terminal
  return { terminal: makeDiscreet(terminal, []), lines }
}

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

describe('the delivery on GitHub Actions', () => {
  const actions = (file?: string) => ({
    GITHUB_ACTIONS: 'true',
    ...(file !== undefined && { GITHUB_STEP_SUMMARY: file }),
  })

  it('adds annotations and the summary of the step', async () => {
    const file = join(temporaryFolder(), 'summary')
    const { terminal, lines } = quietTerminal(actions(file))
    expect(await deliverReport(report(), [], terminal)).toBe(1)
    const commands = lines.filter((line) => line.startsWith('::'))
    expect(commands).toHaveLength(1)
    expect(readFileSync(file, 'utf8')).toMatch(/^## dmarc-understudy run: npm test\n/)
  })

  it('lets no text of a client become a command', async () => {
    const message = '::stop-commands::x ##[add-mask]y'
    const { terminal, lines } = quietTerminal(actions(join(temporaryFolder(), 'summary')))
    await deliverReport(report({ findings: [finding({ message })], summary: '::error::x' }), [], terminal)
    expect(lines.filter((line) => line.trim().startsWith('::'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('##[') && !line.startsWith('::error '))).toEqual([])
  })

  it.each<[file: string | undefined, problem: string]>([
    [undefined, 'is not set, so the step has no summary'],
    ['', 'is not set, so the step has no summary'],
    ['/none/summary', 'cannot be written (ENOENT)'],
  ])('warns in a line where the file of the summary is %j, and does not fail', async (file, problem) => {
    const { terminal, lines } = quietTerminal(actions(file))
    expect(await deliverReport(report({ findings: [] }), [], terminal)).toBe(0)
    expect(lines.at(-1)).toBe(`dmarc-understudy: warning: GITHUB_STEP_SUMMARY ${problem}`)
  })
})
