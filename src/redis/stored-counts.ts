import type { Contract } from '../contract/contract.ts'
import { Coverage, nameOfResponse } from '../coverage/coverage.ts'
import { type ImpoliteKind, type Noted, reportImpoliteness, SHOWN } from '../journal/politeness.ts'
import { orderCodes, type VerdictCounts } from '../journal/verdict.ts'

/** The fields of a hash in the store. */
type HashFields = ReadonlyMap<string, string>

/** The field that counts a response for the coverage. */
export function responseField(
  operation: string | undefined,
  status: number,
  code: string | undefined,
  injected: boolean,
): string {
  return `${injected ? 'injected' : 'genuine'} ${nameOfResponse(operation, status, code)}`
}

/** The coverage in a hash: responses as `responseField` names them, and the names of covered items. */
export function readCoverage(fields: HashFields, contract: Contract): Coverage {
  const coverage = new Coverage(contract)
  for (const [field, value] of fields) {
    const [kind = '', operation = '', status = '', code = ''] = field.split(' ')
    // Says up to which ordinal the coverage was reset.
    if (kind === 'since') continue
    const count = Number(value)
    if (kind !== 'genuine' && kind !== 'injected') {
      if (count > 0) coverage.addShown(field)
      continue
    }
    coverage.addResponses({
      operation: contract.operations.find(({ id }) => id === operation),
      status: Number(status),
      code: code === '' ? undefined : code,
      ...{ genuine: 0, injected: 0, [kind]: count },
    })
  }
  return coverage
}

/** The prefix of the fields with what the counts were when the verdict was last cleared. */
const CLEARED = 'cleared '

/** The counts for the verdict, without what was cleared unless it is asked for. */
export function readCounts(counts: HashFields, examples: HashFields, isWhole: boolean): VerdictCounts {
  const read = (field: string) => Number(counts.get(field) ?? 0) - readCleared(counts, field, isWhole)
  const under = (prefix: string): [string, number][] =>
    [...counts.keys()]
      .filter((field) => field.startsWith(prefix))
      .map((field): [string, number] => [field.slice(prefix.length), read(field)])
      .filter(([, count]) => count > 0)
  const noted = new Map(
    under('impolite ').map(([kind, count]): [ImpoliteKind, Noted] => {
      const first = readFirst(counts, examples, `impolite ${kind}`, isWhole)
      const requests = first.map(({ text }) => splitFirst(text)).sort(([one], [other]) => one - other)
      return [kind as ImpoliteKind, { count, requestIds: requests.map(([, id]) => id) }]
    }),
  )
  return {
    requests: read('requests'),
    judged: read('judged'),
    injected: read('injected'),
    violations: read('violations'),
    byCode: orderCodes(under('code ')),
    ...reportImpoliteness(noted),
  }
}

/** The first exchanges of a kind since the start, or since the clearing. `place` counts since the start. */
export function readFirst(
  counts: HashFields,
  examples: HashFields,
  kind: string,
  isWhole: boolean,
): { place: number; text: string }[] {
  // The count of violations is called like them, and the place of one alone is not.
  const cleared = readCleared(counts, kind === 'violation' ? 'violations' : kind, isWhole)
  return Array.from({ length: SHOWN }, (_, index) => cleared + index + 1).flatMap((place) => {
    const text = examples.get(`${kind} ${place}`)
    return text === undefined ? [] : [{ place, text }]
  })
}

/** The ordinal of an exchange, and the text after it. */
export function splitFirst(text: string): [ordinal: number, rest: string] {
  const end = text.indexOf(' ')
  return [Number(text.slice(0, end)), text.slice(end + 1)]
}

function readCleared(counts: HashFields, field: string, isWhole: boolean): number {
  return isWhole ? 0 : Number(counts.get(CLEARED + field) ?? 0)
}
