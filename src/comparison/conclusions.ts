import type { CoverageComparison } from './coverage.ts'
import { type HoldingsComparison, holdsTheSame } from './holdings.ts'
import type { ListComparison } from './lists.ts'
import type { ComparedRequest, RequestsComparison } from './requests.ts'

/** Whether two sides are alike, and on what that rests. Two sides of which too little is known are not called alike. */
export interface ComparisonResult {
  result: 'same' | 'different' | 'inconclusive'
  /** One sentence for a person. */
  message: string
}

/** The names of the two sides in a sentence. */
export type SideNames = readonly [one: string, other: string]

/** The number of requests that each side has made but that are no longer known. */
export interface MissingRequests {
  missing_in_one: number
  missing_in_other: number
}

export function concludeHoldings(holdings: HoldingsComparison): ComparisonResult {
  const { settings, domains, groups, keys, faults, quotas } = holdings
  const lists = [
    [domains, 'domain'],
    [groups, 'group'],
    [keys, 'key'],
    [faults, 'fault rule'],
    [quotas, 'quota'],
  ] as const
  if (holdsTheSame(holdings)) {
    const held = lists.slice(0, -1).map(([{ alike }, noun]) => (alike === 0 ? `no ${noun}` : counted(alike, noun)))
    return same(
      `Both hold the same: ${enumerate(held)}. Their plan and what is left of their quotas are the same, too.`,
    )
  }
  const parts = lists.flatMap(([list, noun]) => some(differencesIn(list), noun))
  return different(`They differ in ${enumerate([...parts, ...settings.map((setting) => `the ${setting}`)])}.`)
}

export function concludeRequests(
  { one, other, parting }: RequestsComparison,
  { missing_in_one, missing_in_other }: MissingRequests,
  names: SideNames,
): ComparisonResult {
  const [first, second] = names
  const silent = [...(one === 0 ? [first] : []), ...(other === 0 ? [second] : [])]
  if (silent.length > 0) {
    const who = silent.length === 2 ? 'either of them' : silent[0]
    return inconclusive(`No request of ${who} is known, so it is not known whether they do the same.`)
  }
  if (missing_in_one + missing_in_other > 0) {
    const lacks = [
      ...(missing_in_one > 0 ? [`${counted(missing_in_one, 'request')} of ${first}`] : []),
      ...(missing_in_other > 0 ? [`${counted(missing_in_other, 'request')} of ${second}`] : []),
    ]
    return inconclusive(`The journal lacks ${enumerate(lacks)}, so it is not known where they part.`)
  }
  if (parting === null) {
    return same(`Both made the same ${counted(one, 'request')} in the same order, and got the same answers.`)
  }
  const acts = [`${first} ${describeAct(parting.one)}`, `${second} ${describeAct(parting.other)}`]
  return different(`They part at request ${parting.position.toLocaleString('en')}: ${acts.join(', and ')}.`)
}

/** `asked` tells whether both sides have made requests at all. */
export function concludeCoverage({ responses, rules, edges }: CoverageComparison, hasAsked: boolean): ComparisonResult {
  const kinds = [
    [responses, 'response', 'responses'],
    [rules, 'rule', 'rules'],
    [edges, 'edge of a limit', 'edges of limits'],
  ] as const
  const single = kinds.flatMap(([parts, noun, nouns]) =>
    some(parts.only_in_one.length + parts.only_in_other.length, noun, nouns),
  )
  if (!hasAsked) {
    return inconclusive('One of the two has made no request, so it is not known whether they cover the same.')
  }
  if (single.length > 0) return different(`Only one of the two has shown ${enumerate(single)}.`)
  const shown = kinds.flatMap(([{ alike }, noun, nouns]) => some(alike, noun, nouns))
  if (shown.length === 0) return inconclusive('Neither has shown anything of the contract.')
  return same(`Both have shown the same parts of the contract: ${enumerate(shown)}.`)
}

/** The conclusion about all compared parts, by their names in a sentence. */
export function concludeAll(parts: Readonly<Record<string, ComparisonResult>>): ComparisonResult {
  const namesOf = (result: ComparisonResult['result']) => {
    return enumerate(Object.keys(parts).filter((name) => parts[name]?.result === result))
  }
  const [alike, apart, unknown] = [namesOf('same'), namesOf('different'), namesOf('inconclusive')]
  if (apart !== '') return different(`There are differences in ${apart}.`)
  if (unknown === '') return same(`There is no difference in ${alike}.`)
  const known = alike === '' ? '' : `There is no difference in ${alike}. `
  return inconclusive(`${known}Too little is known of ${unknown}.`)
}

function describeAct(request: ComparedRequest | null): string {
  if (request === null) return 'made no further request'
  const { method, path, status, code } = request
  const answer = status === null ? 'no answer' : `${status}${code === null ? '' : ` ${code}`}`
  return `sent ${method} ${path} and got ${answer}`
}

function differencesIn({ different, only_in_one, only_in_other }: ListComparison): number {
  return different.count + only_in_one.count + only_in_other.count
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

function some(count: number, one: string, many?: string): string[] {
  return count === 0 ? [] : [counted(count, one, many)]
}

function enumerate(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

function same(message: string): ComparisonResult {
  return { result: 'same', message }
}

function different(message: string): ComparisonResult {
  return { result: 'different', message }
}

function inconclusive(message: string): ComparisonResult {
  return { result: 'inconclusive', message }
}
