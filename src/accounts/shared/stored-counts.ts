import type { Contract } from '../../contract/contract.ts'
import { Coverage } from '../../coverage/coverage.ts'
import { EXAMPLES, type Noted } from '../../journal/verdict.ts'

/** The fields of a hash of the store. */
export type Counts = ReadonlyMap<string, string>

/** The coverage that some hashes have together. `g` and `i` count genuine and injected responses, `s` names what was shown. */
export function readCoverage(hashes: readonly Counts[], contract: Contract): Coverage {
  const coverage = new Coverage(contract)
  for (const [field, text] of hashes.flatMap((counts) => [...counts])) {
    const [kind, name] = [field[0], field.slice(2)]
    if (kind === 's') {
      coverage.addShown(name)
      continue
    }
    const [id, status, code] = name.split(' ')
    const operation = contract.operations.find((each) => each.id === id)
    const [genuine, injected] = kind === 'g' ? [Number(text), 0] : [0, Number(text)]
    coverage.addResponses({ operation, status: Number(status), code: code || undefined, genuine, injected })
  }
  return coverage
}

/** The counts for the verdict. A field such as `violations#1` has what is shown of the first of those it counts. */
export function readNoted(counts: Counts): Map<string, Noted> {
  const names = [...counts.keys()].filter((field) => !field.includes('#'))
  return new Map(names.map((name) => [name, { count: Number(counts.get(name)), requestIds: readFirsts(counts, name) }]))
}

/** What is shown of the first requests that a field counts. */
export function readFirsts(counts: Counts, field: string): string[] {
  const places = Array.from({ length: EXAMPLES }, (_, index) => index + 1)
  return places.flatMap((place) => counts.get(`${field}#${place}`) ?? [])
}
