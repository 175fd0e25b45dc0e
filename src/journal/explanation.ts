import type { Contract } from '../contract/contract.ts'
import { type Json, pointTo, valueAt } from '../contract/json.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { type AccountState, detachAccount } from '../domain/account.ts'
import { correctRequest, type ReceivedRequest } from './correction/correction.ts'
import type { Entry } from './entry.ts'
import { type Planes, writeCurl } from './planned-request.ts'
import { redactorFor } from './redaction.ts'
import { describeEntry, describeInjection, describeProblem, describeQuota } from './report.ts'

/** Everything behind one answer; the control plane's document describes every field. `account` is as it is now. */
export function explainEntry(entry: Entry, account: AccountState, contract: Contract, planes: Planes): Json {
  const redact = redactorFor(entry.headers, entry.key)
  const problems = entry.problems.map((problem) => describeProblem(problem, contract.catalogue, redact))
  const assumptions = assumptionsBehind(entry, contract)
  const refused = entry.code !== undefined && entry.code !== 'internal_error' && !entry.injected
  const described = describeEntry(entry, contract.catalogue)
  return {
    request_id: entry.requestId,
    account: entry.account ?? null,
    operation: entry.operation?.id ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    summary: summarise(entry, problems),
    documented: assumptions.length === 0 && !entry.injected,
    assumptions,
    rules: rulesBehind(entry),
    problems,
    quota: describeQuota(entry.allowance),
    clock: described['at'],
    fault: describeInjection(entry.injection),
    failure: entry.failure === undefined ? null : redact(String((entry.failure as Error)?.stack ?? entry.failure)),
    correction: refused ? correct(entry, account, contract, planes) : null,
    exchange: described,
  }
}

function correct(entry: Entry, account: AccountState, contract: Contract, planes: Planes): object {
  // It is tried out on a copy.
  const { before, request, changes } = correctRequest(received(entry), entry.problems, detachAccount(account), contract)
  return {
    changes,
    before: before.map((each) => writeCurl(each, planes)),
    curl: writeCurl(request, planes),
    requests: [...before, request],
  }
}

/** The request as far as it was kept; of a body that was cut off, a correction starts from what there is. */
function received({ method, target, headers, body }: Entry): ReceivedRequest {
  const fields: Record<string, string> = {}
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] ?? '').toLowerCase()
    if (name !== 'authorization' && name !== '__proto__') fields[name] = headers[index + 1] ?? ''
  }
  return { method, target, headers: fields, body: body?.bytes }
}

function summarise(
  { injection, injected, status, code, operation, failure }: Entry,
  problems: readonly { message: string }[],
): string {
  const more = problems.length > 1 ? ` ${problems.length - 1} more of its problems would come after it.` : ''
  if (injected && injection?.effect !== undefined) return `A fault struck: ${injection.effect}`
  if (injected)
    return `The answer was injected (${injection?.id ?? injection?.source}); the service itself did not refuse.`
  if (failure !== undefined) return 'The stand-in failed inside.'
  if (code !== undefined) return `Refused with ${code}: ${problems[0]?.message ?? ''}${more}`
  if (status === undefined) return 'The client left before its request was whole; there was nobody to answer.'
  return `${operation?.id ?? 'The request'} succeeded.`
}

/** The rules that demand an entry's refusal, or those of the operation that succeeded. */
function rulesBehind({ operation, code, problems, injected }: Entry): { id: string; says: string }[] {
  if (injected || operation === undefined) return []
  const rules = operation.rules.filter((rule) =>
    code === undefined
      ? rule.refuses.length === 0 && rule.when === undefined
      : isRefusedBy(rule, code, problems[0]?.reason),
  )
  return rules.map(({ id, says }) => ({ id, says }))
}

/** The choices that stand at the entry's answer: at its code in the catalogue, or at the responses of the operation. */
function assumptionsBehind(
  { operation, code, problems, injected, status }: Entry,
  { document }: Contract,
): { id: string; spec: string }[] {
  if (injected || status === undefined) return []
  const entry = `/components/x-errors/${code}`
  const reason = problems[0]?.reason
  const place = operation && `${pointTo(pointTo('/paths', operation.path), operation.method.toLowerCase())}/responses`
  const reasonHasStatus =
    reason !== undefined && valueAt(document.source, `${entry}/reasons/${reason}/status`) !== undefined
  const holders = code === undefined ? [place] : [reasonHasStatus ? `${entry}/reasons/${reason}` : entry]
  return document.extensions
    .filter(({ key, holder }) => key === 'x-assumption' && holders.includes(holder))
    .map(({ value }) => value as { id: string; spec: string })
    .map(({ id, spec }) => ({ id, spec }))
}
