import { writeFile } from 'node:fs/promises'
import { createAccount } from '../accounts/creation.ts'
import type { LoadedFixture } from '../accounts/fixture.ts'
import { generateFixture, STORIES, writeFixture } from '../accounts/generator.ts'
import { type Contract, loadContract } from '../contract/contract.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type DmarcRecord, decimalsOf, refreshDay } from '../domain/dmarc.ts'
import { dmarcRecords } from '../figures/figures.ts'
import { systemClock } from '../ground/clock.ts'
import { checkTarget, explainFailure } from '../reports/targets.ts'
import { fileName, instant, type Options, oneOf, optIn, wholeNumber } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { readOptions, refuseOperands } from './options.ts'
import { Progress } from './progress.ts'

const OPTIONS = {
  domains: { kind: wholeNumber(0, 1_000_000), help: 'Number of domains to invent.', default: 100 },
  groups: { kind: wholeNumber(0, 10_000), help: 'Number of groups to make of them.', default: 8 },
  seed: { ...COMMAND_LINE_OPTIONS.seed, default: DEFAULT_SEED, defaultText: `${DEFAULT_SEED}` },
  story: { kind: oneOf(STORIES), help: 'Owner of the domains.', default: 'company' },
  format: {
    kind: oneOf(['json', 'csv']),
    help: 'Output: a fixture file (json), or its DMARC table for a spreadsheet (csv).',
    default: 'json',
  },
  now: { kind: instant, help: 'Day of the table.', defaultText: 'today' },
  out: { kind: fileName, help: 'File to write.', defaultText: 'standard output' },
  force: optIn('Replace a file that exists.'),
} as const satisfies Options

export const fixture: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { values, positionals } = readOptions(OPTIONS, args, terminal.environment)
    refuseOperands('fixture', positionals)
    const contract = await loadContract()
    const birth = { id: 'fixture', real: systemClock(), ...(values.now !== undefined && { now: values.now }) }
    const progress = new Progress(terminal)
    const onProgress = (made: number) => progress.show(`${made} of ${values.domains} domains`)
    const invented = await generateFixture({ ...values, onProgress })
    progress.end()
    const content = values.format === 'json' ? writeFixture(invented) : tableOf(invented, birth, contract)
    if (values.out === undefined) {
      terminal.write(content)
      return 0
    }
    await writeTo(values.out, content, values.force)
    terminal.printError(
      `Wrote ${values.out}.${values.format === 'json' ? ` Try it: dmarc-understudy serve --fixture ${values.out}` : ''}`,
    )
    return 0
  },
}

function tableOf(source: LoadedFixture, birth: { id: string; real: number; now?: string }, contract: Contract): string {
  const account = createAccount(source, birth, contract)
  const day = refreshDay(timeOn(account.clock, birth.real), contract.settings.refresh)
  return writeTable(dmarcRecords(account, day, contract), contract.percentageStep)
}

/** The DMARC records of an account as CSV (RFC 4180). */
function writeTable(records: readonly DmarcRecord[], step: number): string {
  const decimals = decimalsOf(step)
  const shares = new Set(['dmarc', 'dkim', 'spf'])
  const columns = ['domain', 'p', 'sp', 'np', 'pct', 'testing', 'dmarc', 'dkim', 'spf', 'count'] as const
  const rows = records.map((record) =>
    columns.map((name) => (shares.has(name) ? Number(record[name]).toFixed(decimals) : record[name])),
  )
  return `${[columns, ...rows].map((row) => row.join(',')).join('\r\n')}\r\n`
}

async function writeTo(out: string, content: string, force: boolean): Promise<void> {
  try {
    await writeFile(out, content, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UsageError(`--out ${out}: exists already; choose another name, or replace it with --force`)
    throw new UsageError(`--out ${out}: ${(await checkTarget(out)) ?? explainFailure(error)}`)
  }
}
