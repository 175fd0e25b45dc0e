import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import { digestOf } from '../ground/secrets.ts'
import type { ServerTerms } from '../store/redis/membership.ts'
import type { OpeningContext } from './opened-store.ts'
import { flagOf, type Option } from './option.ts'
import { type CompleteOptions, LIBRARY_OPTIONS } from './option-table.ts'

/** Options that change the answers of servers, or how long they keep data for other servers. */
const SHARED_OPTIONS = [
  ...(['fixture', 'seed', 'now', 'frozen', 'plan', 'faults', 'maxAccounts', 'journal'] as const),
  ...(['sandboxKeys', 'prefer', 'simulator', 'cors', 'enforceQuotas', 'responseValidation'] as const),
]

/** The contract and options of this server, for other servers with the same store. */
export function termsOf(
  options: CompleteOptions,
  { contract, overlays, fixture }: Pick<OpeningContext, 'contract' | 'overlays' | 'fixture'>,
): ServerTerms {
  return {
    contract: digestOf(JSON.stringify(contract.document.source)),
    // Folder names have no meaning on other machines.
    overlays: overlays.map(
      ({ name, actions }) => `${name.replace(/^.*[/\\]/, '')} ${digestOf(JSON.stringify(actions)).slice(0, 12)}`,
    ),
    options: describeOptions(options, fixture),
  }
}

/** The difference between the contracts of another server and of this one, as the part of a sentence. */
export function describeDifference(theirs: ServerTerms, ours: ServerTerms): string {
  const list = (overlays: readonly string[]) =>
    overlays.map((each) => each.slice(0, each.lastIndexOf(' '))).join(', ') || 'none'
  const [there, here] = [list(theirs.overlays), list(ours.overlays)]
  if (there !== here) return `other overlays (there: ${there}; here: ${here})`
  if (`${theirs.overlays}` !== `${ours.overlays}`) return `other contents of the overlays ${here}`
  return 'another openapi.yaml, as other versions of the program have'
}

/** The options by which two servers differ, with the values of both. */
export function differingOptions(
  { options: ours }: ServerTerms,
  { options: theirs }: ServerTerms,
): { option: string; here: string; there: string }[] {
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
  return names
    .filter((name) => theirs[name] !== ours[name])
    .map((option) => ({ option, here: ours[option] ?? 'not given', there: theirs[option] ?? 'not given' }))
}

/** The shared options by their flags. Servers should not differ in them, but may. */
function describeOptions(options: CompleteOptions, fixture: object): Record<string, string> {
  const isReadyMade = FIXTURE_NAMES.some((name) => name === options.fixture)
  const shown = { ...options, fixture: isReadyMade ? options.fixture : digestOf(JSON.stringify(fixture)).slice(0, 12) }
  return Object.fromEntries(
    SHARED_OPTIONS.flatMap((name) => {
      const value = shown[name]
      const option: Option<unknown> = LIBRARY_OPTIONS[name]
      return value === undefined ? [] : [[`--${flagOf(name, option)}`, describeValue(value, option)]]
    }),
  )
}

/** A value as a person gives it. A switch that is on by default has a flag that turns it off. */
function describeValue(value: unknown, option: Option<unknown>): string {
  if (typeof value === 'boolean') return String(option.default === true ? !value : value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
