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

/** The sum of the verdict counts in several hashes. */
export function readCounts(...hashes: readonly HashFields[]): VerdictCounts {
  const sums = new Map<string, number>()
  const first = new Map<string, [ordinal: number, requestId: string][]>()
  for (const [field, value] of hashes.flatMap((fields) => [...fields])) {
    if (field.startsWith('first ')) {
      const kind = field.slice('first '.length)
      first.set(kind, [...(first.get(kind) ?? []), ...JSON.parse(value)])
    } else sums.set(field, (sums.get(field) ?? 0) + Number(value))
  }
  const under = (prefix: string) =>
    [...sums].flatMap(([field, count]): [string, number][] =>
      field.startsWith(prefix) ? [[field.slice(prefix.length), count]] : [],
    )
  const noted = new Map(
    under('impolite ').map(([kind, count]): [ImpoliteKind, Noted] => {
      const requests = (first.get(kind) ?? []).sort(([one], [other]) => one - other).slice(0, SHOWN)
      return [kind as ImpoliteKind, { count, requestIds: requests.map(([, id]) => id) }]
    }),
  )
  const read = (field: string) => sums.get(field) ?? 0
  return {
    requests: read('requests'),
    judged: read('judged'),
    injected: read('injected'),
    violations: read('violations'),
    byCode: orderCodes(under('code ')),
    ...reportImpoliteness(noted),
  }
}
