import type { Schemas } from '../contract/control-plane.ts'
import { bodyText, writeCurl } from '../coverage/curl.ts'
import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import type { FixtureDomain } from '../domain/fixture.ts'
import { describeEntry } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import { withoutBrackets } from '../journal/redaction/redaction.ts'
import { describeChanges, type FoundChanges } from './changes.ts'
import { correctRequest } from './correction.ts'
import { assumptionsBehind, rulesBehind } from './grounds.ts'
import { findJsonPosition } from './json-position.ts'
import { pageAddress } from './page-address.ts'
import { type ReproductionSource, reproduce } from './reproduction.ts'
import { foreignHostOf, isOfBrowser, summarise } from './summary.ts'

/** All causes of one response. */
export type ExplanationReport = Schemas['Explanation']

/** The account as a request found it, and its changes by the request. */
export interface KnownPast {
  state: AccountState | undefined
  changes: FoundChanges
}

export interface ExplanationSource extends ReproductionSource {
  past: KnownPast
  /** Whether a service has answered that the program does not simulate. */
  isForeign: boolean
  writeDomain(domain: MonitoredDomain): FixtureDomain
}

/** Finds all causes of the response to a request. */
export function explainEntry(entry: Entry, source: ExplanationSource): ExplanationReport {
  const { account, contract, urls, redact, past, writeDomain, isForeign } = source
  const exchange = describeEntry(entry, contract.catalogue)
  const { problems } = exchange
  const position = entry.problems.some(({ code }) => code === 'invalid_json') ? findJsonPosition(entry.body) : undefined
  const assumptions = assumptionsBehind(entry, past.state ?? account, contract)
  const isRefused =
    entry.code !== undefined && entry.code !== 'internal_error' && !entry.injected && !isOfBrowser(entry)
  const explained: ExplanationReport = {
    id: entry.id,
    request_id: entry.requestId,
    account: entry.account ?? null,
    operation: entry.operation ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    summary: summarise(entry, { contract, baseUrl: urls.baseUrl, problems, broken: position?.says }),
    documented:
      entry.status !== undefined && entry.operation !== undefined && assumptions.length === 0 && !entry.injected,
    assumptions,
    rules: rulesBehind(entry, contract),
    problems,
    position: position ?? null,
    quota: exchange.quota,
    clock: exchange.at,
    fault: exchange.fault,
    failure: entry.failure ?? null,
    // A fault may have hidden from the client the error in its request.
    correction: isRefused || entry.violatesContract ? correct(entry, source) : null,
    ...describeChanges(past.changes, writeDomain, redact),
    ...reproduce(entry, source),
    page: pageAddress(entry.id, entry.account, urls) ?? null,
    exchange,
  }
  return isForeign ? { ...explained, ...judgedElsewhere(explained) } : explained
}

const UNKNOWN = 'The program does not know the accounts of a service that it only looks at.'

/** Of a service that is only looked at, what its judgement has found is known, and not what it would accept. */
function judgedElsewhere({ status, code, exchange }: ExplanationReport): Partial<ExplanationReport> {
  const findings = exchange.violations as { message: string; label?: string }[]
  const refused = code === null ? `answered with ${status}` : `refused it with ${status} "${code}"`
  const answered = status === null ? 'No response came.' : `The service ${refused}.`
  return {
    ...{ correction: null, changes: null, changes_count: null, changes_note: UNKNOWN },
    ...{ reproduction: null, reproduction_note: UNKNOWN },
    summary: [answered, ...findings.map(({ message }) => message)].join(' '),
    problems: findings.map(({ message, label = '' }) => ({
      code: code ?? label,
      message,
      field: null,
      received: null,
    })),
  }
}

function correct(
  entry: Entry,
  { account, contract, urls, publicKey }: ExplanationSource,
): ExplanationReport['correction'] {
  const correction = correctRequest(entry, problemsOf(entry, account), account, contract)
  if (correction === undefined) return null
  // What stands for a secret must not be a pattern of curl.
  const requests = [...correction.before, correction.request].map((each) => ({
    ...each,
    path: withoutBrackets(each.path),
  }))
  const commands = requests.map((each) => writeCurl(each, urls, publicKey))
  const { method, path, body } = correction.request
  return {
    changes: [...correction.changes],
    before: commands.slice(0, -1),
    curl: commands.at(-1) ?? '',
    request: { method, path: contract.basePath + withoutBrackets(path), body: bodyText(body) ?? null },
    requests,
  }
}

/** The problems of a request. Of one with a foreign Host, the key was not checked. */
function problemsOf(entry: Entry, { keys }: AccountState): Entry['problems'] {
  const isValid = keys.some(({ id, disabled }) => id === entry.key && !disabled)
  return foreignHostOf(entry) === undefined || isValid ? entry.problems : [...entry.problems, { code: 'unauthorized' }]
}
