import { writeFile } from 'node:fs/promises'
import { generateFixture, STORIES, writeFixture } from '../accounts/generator.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import { explainFailure } from '../reports/targets.ts'
import { fileName, type Options, oneOf, wholeNumber } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { defineCommand } from './command.ts'
import { UsageError } from './options.ts'
import { Progress } from './progress.ts'

const OPTIONS = {
  domains: { kind: wholeNumber(0, 1_000_000), help: 'Number of domains to invent.', default: 100 },
  groups: { kind: wholeNumber(0, 10_000), help: 'Number of groups to make of them.', default: 8 },
  seed: { ...COMMAND_LINE_OPTIONS.seed, default: DEFAULT_SEED, defaultText: `${DEFAULT_SEED}` },
  story: { kind: oneOf(STORIES), help: 'Owner of the domains.', default: 'company' },
  out: { kind: fileName, help: 'File to write, which must not exist yet.', defaultText: 'standard output' },
} as const satisfies Options

export const fixture = defineCommand('fixture', OPTIONS, async ({ values }, terminal) => {
  const { out } = values
  const progress = new Progress(terminal)
  const onProgress = (made: number) => progress.show(`${made} of ${values.domains} domains`)
  const content = writeFixture(await generateFixture({ ...values, onProgress }))
  progress.end()
  if (out === undefined) {
    terminal.write(content)
    return 0
  }
  await writeFile(out, content, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'exists already; choose another name, or remove it' : explainFailure(error)
    throw new UsageError(`--out ${out}: ${reason}`)
  })
  terminal.printError(`Wrote ${out}. Try it: npx dmarc-understudy serve --fixture ${out}`)
  return 0
})
