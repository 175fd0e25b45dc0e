import { secretIn } from '../behaviour/gate.ts'
import { type Judgement, judge } from '../behaviour/judge.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { kebab, SETTINGS, type Settings } from '../domain/settings.ts'
import { type Json, mergePatch, valueAt } from '../ground/json.ts'
import { hashKey } from '../ground/secrets.ts'
import type { Work } from '../ground/work.ts'
import { createBodyReader } from '../http/body.ts'
import { bytesOf, isCut, textOf } from '../http/content.ts'
import { createRouter } from '../http/router.ts'
import { createQueryReader, queryOf } from '../http/target.ts'
import { type Entry, fieldOf } from '../journal/entry.ts'

/** With a valid key, these codes are for plan and quota, which are not decided again. */
const OF_THE_GATE: ReadonlySet<string> = new Set(['unauthorized', 'rate_limited'])
const NO_KEY_GIVEN: Problem = { code: 'unauthorized' }

/**
 * The settings on which a recorded answer rests, in kebab-case: with another value of one of them, its code, reason or
 * data would be different. A decision is pure and reads a setting only where the setting can matter. So it is repeated
 * with each other value of the settings that it has read.
 *
 * `states` are possible states of the account, in unshared maps, the best one first. Small ones are fast. If the answer
 * comes from none of them, only settings about a hostname that it refuses are known. The work pauses after each
 * decision.
 */
export function* decisiveSettings(
  entry: Entry,
  states: Iterable<AccountState>,
  contract: ServiceContract,
): Work<string[]> {
  const [{ reason, value } = NO_KEY_GIVEN] = entry.problems
  // Settings about hostnames are compiled into the contract.
  const against = reason === 'format' && typeof value === 'string' ? contract.settingsAgainst(value) : []
  for (const state of states) {
    const reads = new Set<string>()
    const answerWith = (settings: Settings) => answerTo(entry, state, { ...contract, settings })
    const own = answerWith(watch(contract.settings, (name) => reads.add(name)))
    yield
    if (own.outcome !== outcomeOf(entry.code === undefined ? [] : entry.problems)) continue
    const decisive: string[] = []
    for (const name of reads) {
      for (const other of valuesOf(name as keyof Settings, contract)) {
        const { outcome, data } = answerWith({ ...contract.settings, [name]: other })
        yield
        if (outcome === own.outcome && data === own.data) continue
        decisive.push(name)
        break
      }
    }
    return [...against, ...decisive.map(kebab)]
  }
  return against
}

/** The settings as they are. `note` is called with the name of each one that is read. */
export function watch(settings: Settings, note: (name: string) => void): Settings {
  return new Proxy(settings, {
    get(target, name) {
      note(name as string)
      return target[name as keyof Settings]
    },
  })
}

/** The judgement of a recorded request on a state of its account. If its body was cut, its beginning is judged. */
export function judgeAgain(
  { target, headers, body, at }: Entry,
  operation: Operation,
  account: AccountState,
  contract: ServiceContract,
): Judgement {
  const { settings } = contract
  const bodies = createBodyReader(settings)
  const fields = {
    'content-type': fieldOf(headers, 'content-type'),
    'content-encoding': fieldOf(headers, 'content-encoding'),
  }
  const read =
    body !== undefined && isCut(body)
      ? bodies.readText(textOf(body), body.size, fields, operation)
      : bodies.readBytes(body === undefined ? Buffer.alloc(0) : bytesOf(body), fields, operation)
  const query = createQueryReader(settings)(queryOf(target))
  return judge({ operation, query, body: read }, account, contract, at)
}

/** `success` or code and reason of the refusal, and the data of a success. */
function answerTo(entry: Entry, account: AccountState, contract: ServiceContract): { outcome: string; data?: string } {
  const { method, path, headers, problems, keyEvidence } = entry
  const { settings } = contract
  // Input that is not HTTP has no header fields.
  if (headers.length === 0 && problems[0]?.reason === 'malformed')
    return { outcome: settings.notHttp === 'answered' ? outcomeOf(problems) : 'no answer' }
  const route = createRouter(contract, settings)(method, path)
  if ((route.ok || settings.routing === 'after-key') && !hasKey(entry, account, settings))
    return { outcome: outcomeOf([NO_KEY_GIVEN]) }
  if (!route.ok) return { outcome: outcomeOf(route.problems) }
  if (keyEvidence.ordinal > 0 && OF_THE_GATE.has(problems[0]?.code ?? '')) return { outcome: outcomeOf(problems) }
  const judgement = judgeAgain(entry, route.operation, account, contract)
  if (!judgement.ok) return { outcome: outcomeOf(judgement.problems) }
  const { value } = judgement
  return { outcome: outcomeOf([]), data: JSON.stringify(value.source === undefined ? value.data : value.make()) }
}

function outcomeOf([problem]: readonly Problem<string>[]): string {
  return problem === undefined ? 'success' : `${problem.code} ${problem.reason}`
}

/** Whether the request has a valid key under these settings, as far as the account shows it. */
function hasKey({ headers, keyEvidence }: Entry, { keys }: AccountState, settings: Settings): boolean {
  if (keyEvidence.ordinal > 0) return !keyEvidence.disabled
  const secret = secretIn(fieldOf(headers, 'authorization'), settings)
  return secret !== undefined && keys.some(({ hash, disabled }) => hash === hashKey(secret) && !disabled)
}

/** All values of a setting, or those that openapi.yaml names as alternatives. Includes the present one. */
function valuesOf(name: keyof Settings, { settings, document }: ServiceContract): readonly unknown[] {
  const { enum: all, then: otherwise }: Json = SETTINGS[name]
  if (Array.isArray(all)) return all
  const alternatives = valueAt(document.source, `/x-settings/${kebab(name)}/x-assumption/alternatives`)
  const others = Array.isArray(alternatives) ? alternatives : []
  const values = others.map((each) => valueAt(mergePatch({ value: settings[name] }, each), '/value'))
  return otherwise === undefined ? values : [...values, 'none']
}
