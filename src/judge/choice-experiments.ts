import { type ArrivedRequest, answersUnder, type OtherChoice, type ServiceAnswer } from '../behaviour/counterfactual.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS, shownBy } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import { type Choices, settingOf } from '../contract/choices.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject } from '../ground/json.ts'
import type { Belief } from './belief.ts'
import { hasTooMany, isAscii, isPlain, SMALL_BODY } from './choice-requests.ts'
import { comparable } from './names.ts'
import type { ChoiceReading, SeenExchange } from './open-choice.ts'
import type { AskedRequest } from './request.ts'
import { accountsFor } from './supposed-account.ts'

/** Tells whether a request may get another answer if the service has made another choice. It only saves time. */
type Suspicion = (asked: AskedRequest, reading: ReadExchange, belief: Belief) => boolean

/** The choices that show in what is accepted, by the id of the assumption. */
const SUSPICIONS: Readonly<Record<string, Suspicion>> = {
  'content-type': ({ form, size }, reading) => form !== undefined && size > 0 && isOtherType(reading),
  'body-limit': ({ form, size }) => form !== undefined && size > SMALL_BODY,
  'null-fields': ({ fields }) => [...fields.values()].includes(null),
  'unknown-query-parameters': ({ hasUnknownParameter }) => hasUnknownParameter,
  'already-monitored': ({ call, allNames }, _, belief) => {
    return call === 'addDomains' && [...allNames].some((name) => belief.isMonitored(name) !== false)
  },
  'repeated-domains': (asked) => {
    return asked.call === 'addDomains' && asked.names('domains').size < asked.list('domains').length
  },
  'unmonitored-deletion': ({ call, allNames }, _, belief) => {
    return call === 'deleteDomains' && [...allNames].some((name) => belief.isMonitored(name) !== true)
  },
  'deletion-of-members': ({ call, allNames }, _, belief) => {
    return call === 'deleteDomains' && [...allNames].some((name) => belief.groupsWith(name).size > 0)
  },
  'shared-domains': (asked, _, belief) => {
    const added = [...asked.names('domains'), ...asked.names('add_domains')]
    return asked.form?.texts.length === 1 && added.some((name) => belief.groupsWith(name).size > 0)
  },
  'name-comparison': (asked, _, belief) => {
    const name = asked.text('name')
    return name !== undefined && (!isAscii(name) || [...belief.groupsNamed(name)].length > 0)
  },
}

/** A request is tried so often for one choice with one outcome, and less often if it has shown the same before. */
const TRIED = 64
const SHOWN = 6
/** A request that names more domains is not tried: it would take long, and shows no more. */
const NAMED = 500

/** An alternative of a setting. */
type Experiment = OtherChoice & { id: string; number: number }

/** Answers requests again under other choices, and compares the answers with that of the service. */
export class ChoiceExperiments {
  readonly #contract: ServiceContract
  readonly #others: readonly Experiment[]
  readonly #ids: ReadonlySet<string>
  /** By choice, operation and outcome: how often it was tried, and how often it has shown something. */
  readonly #tried = new Map<string, { tried: number; shown: number }>()
  /** The choices that are certainly ours. */
  readonly #asChosen = new Set<string>()

  constructor({ contract, alternatives }: Choices) {
    this.#contract = bindBehaviours(contract, { behaviours: OPERATIONS, simulator: false })
    this.#others = alternatives.flatMap((alternative) => {
      const { id, number, value } = alternative
      const setting = settingOf(alternative)
      if (setting === undefined || !Object.hasOwn(SUSPICIONS, id)) return []
      const settings = { ...contract.settings, [setting]: value['value'] }
      return [{ id, number, setting, contract: { ...this.#contract, settings } }]
    })
    this.#ids = new Set(this.#others.map(({ id }) => id))
  }

  /** The numbers of the only choice that is in play, with which a service answers so; `undefined` for nothing. */
  try(seen: SeenExchange): ChoiceReading | undefined {
    const { reading, asked, belief } = seen
    const { outcome, operation, exchange } = reading
    if (operation === undefined || outcome.kind === 'unreadable' || exchange.overlaps) return undefined
    if (asked.body === 'unknown' || asked.allNames.size > NAMED) return undefined
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === 'unauthorized' || code === 'rate_limited') return undefined
    const kinds = [...this.#suspects(asked, reading, belief)].map((id) => `${id} ${operation.id} ${code}`)
    const open = kinds.map((kind) => this.#tallyOf(kind)).filter(({ tried, shown }) => tried < TRIED && shown < SHOWN)
    if (open.length === 0 || !isReadAlike(seen)) return undefined
    for (const tally of open) tally.tried++
    const found = this.#compare(seen)
    if (found === undefined) return undefined
    this.#tallyOf(`${found.id} ${operation.id} ${code}`).shown++
    if (found.permits.length === 1 && found.permits[0] === 0) this.#asChosen.add(found.id)
    return found
  }

  *#suspects(...seen: Parameters<Suspicion>): Generator<string> {
    for (const id of this.#ids) if (SUSPICIONS[id]?.(...seen)) yield id
  }

  #tallyOf(kind: string): { tried: number; shown: number } {
    const known = this.#tried.get(kind) ?? { tried: 0, shown: 0 }
    this.#tried.set(kind, known)
    return known
  }

  #compare({ reading, asked, belief, now }: SeenExchange): ChoiceReading | undefined {
    const accounts = accountsFor(asked, belief, now, this.#contract)
    const given = viewOf(reading, reading)
    const inPlay = new Set<string>()
    /** The alternatives that lead to the answer in some account. */
    const equal = new Set<Experiment>()
    let isOurs = false
    for (const state of accounts) {
      const met = { ...arrivalOf(reading), state, now }
      const unchanged = new Set(this.#others)
      let own = ''
      for (const { other, answer } of answersUnder(met, this.#contract, this.#others)) {
        const view = viewOf(answer, reading)
        if (other === undefined) own = view
        else if (view !== own) {
          unchanged.delete(other)
          inPlay.add(other.id)
          if (view === given) equal.add(other)
        }
      }
      if (own !== given) continue
      isOurs = true
      for (const other of unchanged) equal.add(other)
    }
    if (inPlay.size > 1) for (const id of this.#asChosen) inPlay.delete(id)
    const [id = ''] = inPlay
    if (inPlay.size !== 1) return undefined
    const about = this.#others.filter((other) => other.id === id)
    const permits = [...(isOurs ? [0] : []), ...about.filter((other) => equal.has(other)).map(({ number }) => number)]
    return permits.length === 0 || permits.length > about.length ? undefined : { id, permits }
  }
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function isOtherType({ exchange }: ReadExchange): boolean {
  return !JSON_TYPE.test(exchange.request.headers['content-type'] ?? '')
}

/** Whether no other choice has a part in how the request is read: no odd body, and no list or name of its own kind. */
function isReadAlike({ asked, reading }: SeenExchange): boolean {
  const coding = reading.exchange.request.headers['content-encoding'] ?? 'identity'
  if (asked.isOdd && !(isOtherType(reading) && coding === 'identity')) return false
  const lists = (asked.form?.lists ?? []).map((name) => asked.fields.get(name))
  if (asked.call === 'updateDomainGroup' && lists.some((list) => Array.isArray(list) && list.length === 0)) return false
  return !hasTooMany(asked, reading) && [...asked.allNames].every(isPlain)
}

function arrivalOf({ exchange: { request } }: ReadExchange): Omit<ArrivedRequest, 'state' | 'now'> {
  const { method, target, headers, body } = request
  const bytes = body.isKnown ? body.bytes : Buffer.alloc(0)
  const media = { 'content-type': headers['content-type'], 'content-encoding': headers['content-encoding'] }
  return { method, target, headers: media, body: { held: bytes, size: bytes.length }, hasKey: () => true }
}

/**
 * What an answer says, without its order, its spelling and its texts. What a change of a group answers is open, so only
 * the group counts that the service has shown.
 */
function viewOf(answer: ServiceAnswer | ReadExchange, { operation, shown }: ReadExchange): string {
  if ('outcome' in answer) {
    const { outcome } = answer
    if (outcome.kind !== 'success') return outcome.kind === 'refusal' ? outcome.code : ''
    return viewOfSuccess(outcome.data, operation?.id, shown.group !== undefined)
  }
  return answer.code ?? viewOfSuccess(answer.data, operation?.id, shown.group !== undefined)
}

function viewOfSuccess(data: unknown, operation: string | undefined, showsGroup: boolean): string {
  const { lists, isNew, group } = shownBy(operation, data)
  // A list is judged elsewhere by its known items.
  if (lists !== undefined) return 'success with a list'
  if (operation === 'updateDomainGroup') return showsGroup ? `success ${textOf({ group })}` : 'success'
  if (!isNew || !isObject(data)) return `success ${textOf(data)}`
  // The service chooses the ids of new groups, so only the type of such an id counts.
  const created = isObject(data['group']) ? data['group'] : {}
  return `success ${textOf({ ...data, group: { ...created, id: typeof created['id'] } })}`
}

/** Equal for values that differ only in the order of lists and fields, in spelling, in texts and in figures. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).toSorted().join()}]`
  if (typeof value === 'string') return JSON.stringify(comparable(value))
  if (!isObject(value)) return String(value)
  // The domain identifies a record; other code checks its figures.
  if (typeof value['domain'] === 'string') return textOf(value['domain'])
  const names = Object.keys(value).filter((name) => name !== 'message')
  return `{${names.toSorted().map((name) => `${name}:${textOf(value[name])}`)}}`
}
