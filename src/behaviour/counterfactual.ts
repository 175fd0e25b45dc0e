import { createBodyReader, type MediaFields } from '../contract/body.ts'
import { inForm } from '../contract/reply.ts'
import { createRouter } from '../contract/router.ts'
import type { AccountState } from '../domain/account.ts'
import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import { comparedName } from '../domain/groups.ts'
import { OrderedMap } from '../domain/immutable.ts'
import { includesApiAccess, kebab, SETTINGS, type Settings } from '../domain/settings.ts'
import { type Json, mergePatch, valueAt } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import type { Content } from '../ground/message.ts'
import { readQuery, splitTarget } from '../ground/target.ts'
import { judge } from './judge.ts'
import type { ServiceContract } from './operation.ts'

/** A request as a service received it, and the account and the time that it met. */
export interface ArrivedRequest {
  method: string
  /** Path and query, as they were sent. */
  target: string
  headers: MediaFields
  /** Of a body that was cut, the beginning is judged. */
  body: Content
  /** Whether it carries a valid key, in a form that these settings accept. */
  hasKey(settings: Pick<Settings, 'authorizationScheme'>): boolean
  state: AccountState
  /** In milliseconds on the account's clock. */
  now: number
}

/** What the service answers, without header fields. */
export interface ServiceAnswer {
  status: number
  /** Absent with a success. */
  code: string | undefined
  /** The first one is answered; empty with a success. */
  problems: readonly Problem<string>[]
  /** Only of a success. */
  data: unknown
  /** The account after the request. */
  state: AccountState
}

/** Another choice that the specification permits. */
export interface OtherChoice {
  /** The contract under it. */
  contract: ServiceContract
  /** The name of its setting, if the choice changes nothing else. It counts only where an answer reads it. */
  setting?: keyof Settings | undefined
}

/** An answer under another choice; `other` is absent for the answer under our own choices. */
export interface AnswerUnder<Other> {
  other?: Other
  answer: ServiceAnswer
}

/**
 * The service's answer to a request: first under the contract, then under each other choice alone. A decision is pure and
 * reads a setting only where the setting can matter. So a choice whose setting the first answer does not read is left
 * out: its answer is the same. Each answer is made when it is asked for. Quotas are not counted, and no fault acts.
 */
export function* answersUnder<Other extends OtherChoice>(
  asked: ArrivedRequest,
  contract: ServiceContract,
  others: Iterable<Other>,
): Generator<AnswerUnder<Other>> {
  const { answer, reads } = answererOf(contract)(asked)
  yield { answer }
  for (const other of others) {
    const { setting } = other
    const state = inFormOf(other.contract, asked.state, contract)
    if (setting !== undefined && state === asked.state && !reads.has(setting)) continue
    yield { other, answer: answererOf(other.contract)({ ...asked, state }).answer }
  }
}

/** The service's answer to a request under the contract. */
export function answerUnder(asked: ArrivedRequest, contract: ServiceContract): ServiceAnswer {
  return answererOf(contract)(asked).answer
}

/** Each other value of each setting that is read when a request is answered. Settings compiled into hostnames are not. */
export const otherSettings = memoizeWeakly(
  (contract: ServiceContract): readonly (OtherChoice & { setting: keyof Settings })[] =>
    (Object.keys(SETTINGS) as (keyof Settings)[]).flatMap((setting) =>
      valuesOf(setting, contract)
        .filter((value) => value !== contract.settings[setting])
        .map((value) => ({
          setting,
          contract: { ...contract, settings: { ...contract.settings, [setting]: value } },
        })),
    ),
)

/** All values of a setting, or those that openapi.yaml names as alternatives. May include the present one. */
function valuesOf(setting: keyof Settings, { settings, document }: ServiceContract): readonly unknown[] {
  const { enum: all, then: otherwise }: Json = SETTINGS[setting]
  if (Array.isArray(all)) return all
  const alternatives = valueAt(document.source, `/x-settings/${kebab(setting)}/x-assumption/alternatives`)
  const others = Array.isArray(alternatives) ? alternatives : []
  const values = others.map((each) => valueAt(mergePatch({ value: settings[setting] }, each), '/value'))
  return otherwise === undefined ? values : [...values, 'none']
}

/** The answer, and the names of the settings that decided it. */
interface Decided {
  answer: ServiceAnswer
  reads: ReadonlySet<string>
}

/** Creates the function that answers as the service does, from the request line to the data. */
const answererOf = memoizeWeakly((contract: ServiceContract): ((asked: ArrivedRequest) => Decided) => {
  let reads = new Set<string>()
  const settings = watch(contract.settings, (name) => reads.add(name))
  const watched = { ...contract, settings }
  const route = createRouter(watched, settings)
  const bodies = createBodyReader(settings)
  const always = reads

  function answer(asked: ArrivedRequest): ServiceAnswer {
    const { path, query } = splitTarget(asked.target)
    const found = route(asked.method, path)
    if ((found.ok || settings.routing === 'after-key') && !asked.hasKey(settings)) return refused(asked, NO_KEY)
    if (!found.ok) return refused(asked, found)
    if (!includesApiAccess(asked.state.plan, settings.plans)) return refused(asked, PLAN_TOO_LOW)
    const { operation } = found
    const request = {
      operation,
      query: query === undefined ? {} : readQuery(query),
      body: bodies.readHeld(asked.body, asked.headers, operation),
    }
    const judgement = judge(request, asked.state, watched, asked.now)
    if (!judgement.ok) return refused(asked, judgement)
    const { value, state } = judgement
    const { success } = operation
    const data = value.source === undefined ? inForm(success, value.data) : value.make()
    return { status: success.status, code: undefined, problems: [], data, state }
  }

  function refused({ state }: ArrivedRequest, { problems }: Refusal<string>): ServiceAnswer {
    const { status, code } = contract.catalogue.answer(problems[0])
    return { status, code, problems, data: undefined, state }
  }

  return (asked) => {
    reads = new Set(always)
    return { answer: answer(asked), reads }
  }
})

const NO_KEY = refuse({ code: 'unauthorized' })
const PLAN_TOO_LOW = refuse({ code: 'unauthorized', reason: 'plan' })

/** The settings as they are. `note` is called with the name of each one that is read. */
function watch(settings: Settings, note: (name: string) => void): Settings {
  return new Proxy(settings, {
    get(target, name) {
      note(name as string)
      return target[name as keyof Settings]
    },
  })
}

/** The account as a service with another contract keeps it; the same one if there is no difference. */
function inFormOf(other: ServiceContract, state: AccountState, own: ServiceContract): AccountState {
  const isSpeltAlike = other.canonicalHostname === own.canonicalHostname
  const { nameComparison } = other.settings
  if (isSpeltAlike && nameComparison === own.settings.nameComparison) return state
  const names = [...state.groups.values()].map(
    ({ id, name }) => [comparedName(name, nameComparison), id] as [string, string],
  )
  const groupNames = names.every(([name, id]) => state.groupNames.get(name) === id)
    ? state.groupNames
    : OrderedMap(names)
  if (isSpeltAlike) return groupNames === state.groupNames ? state : { ...state, groupNames }
  const keep = (name: string) => other.canonicalHostname(name) ?? name
  const domains = [...state.domains.values()].map((domain) => ({ ...domain, name: keep(domain.name) }))
  const groups = [...state.groups.values()].map((group) => ({ ...group, domains: group.domains.map(keep) }))
  return {
    ...state,
    domains: OrderedMap(domains.map((domain) => [domain.name, domain] as const)),
    groups: OrderedMap(groups.map((group) => [group.id, group] as const)),
    groupNames,
  }
}
