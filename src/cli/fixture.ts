import { writeFile } from 'node:fs/promises'
import { createAccount, FIXTURE_NAMES, type LoadedFixture, loadFixture } from '../accounts/fixture.ts'
import { generateFixture, STORIES, writeFixture } from '../accounts/generator.ts'
import { drawAccount, writeTable } from '../accounts/picture.ts'
import { type Contract, loadContract } from '../contract/contract.ts'
import { timeOn } from '../domain/clock.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { dmarcRecords } from '../figures/figures.ts'
import { elapsed, systemClock } from '../ground/clock.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { choice, flag, instant, integer, readOptions, text } from './options.ts'

const OPTIONS = {
  domains: integer('N', 'How many domains to invent.', { highest: 1_000_000 }, 100),
  groups: integer('M', 'How many groups to make of them.', { highest: 10_000 }, 8),
  seed: integer('SEED', 'What all chance derives from.', { highest: Number.MAX_SAFE_INTEGER }, 42),
  story: choice('Whose domains they are.', STORIES, 'company'),
  format: choice('A fixture file, or its DMARC table for a spreadsheet.', ['json', 'csv'], 'json'),
  now: instant('INSTANT', 'The day of the table or the picture. Default: today.'),
  out: text('FILE', 'Where to write. Default: standard output.'),
  force: flag('Write over a file that is there.'),
  describe: text(`${FIXTURE_NAMES.join('|')}|FILE`, 'Print a picture of this fixture instead of inventing one.'),
}

export const fixture: Command = {
  options: OPTIONS,

  async run(args, environment) {
    const { values, sources, positionals } = readOptions(OPTIONS, args, environment)
    if (positionals[0] !== undefined) throw new UsageError(`fixture takes no argument, but was given ${positionals[0]}`)
    const contract = await loadContract()
    const birth = { id: 'fixture', real: systemClock(), ...(values.now !== undefined && { now: values.now }) }
    if (values.describe !== undefined) {
      if (values.out !== undefined)
        throw new UsageError(`${sources.out}: goes with an invented fixture; --describe prints`)
      const source = await loadFixture(values.describe)
      const account = createAccount(source, birth, contract)
      console.log(drawAccount(source.title ?? values.describe, account, timeOn(account.clock, birth.real), contract))
      return 0
    }
    const invented = await generateFixture({ ...values, onProgress: reportProgress(values.domains) })
    const content = values.format === 'json' ? writeFixture(invented) : tableOf(invented, birth, contract)
    await write(content, values.out, values.force ?? false)
    if (values.out !== undefined)
      console.error(
        `Wrote ${values.out}.${values.format === 'json' ? ` Try it: dmarc-understudy fixture --describe ${values.out}` : ''}`,
      )
    return 0
  },
}

function tableOf(source: LoadedFixture, birth: { id: string; real: number; now?: string }, contract: Contract): string {
  const account = createAccount(source, birth, contract)
  const day = refreshDay(timeOn(account.clock, birth.real), contract.settings.refresh)
  return writeTable(dmarcRecords(account, day, contract), contract.percentageStep)
}

async function write(content: string, out: string | undefined, force: boolean): Promise<void> {
  if (out === undefined) {
    process.stdout.write(content)
    return
  }
  try {
    await writeFile(out, content, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new UsageError(`--out ${out}: is there already; choose another name, or write over it with --force`)
    throw new UsageError(`--out ${out}: cannot be written (${code}); choose a file in a folder that exists`)
  }
}

/** Speaks up once a second, so that nobody wonders whether something happens. */
function reportProgress(wanted: number): (made: number) => void {
  let last = elapsed()
  return (made) => {
    if (elapsed() - last < 1000) return
    last = elapsed()
    console.error(`${made} of ${wanted} domains…`)
  }
}
