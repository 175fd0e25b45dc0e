import { shownBy } from '../behaviour/operations/operations.ts'
import type { ShownData } from '../behaviour/shown-data.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { type DataParts, viewAnswer } from '../exchanges/data.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { valueAt } from '../ground/json.ts'
import type { Hypotheses } from './hypotheses.ts'
import type { Assignment } from './observation.ts'
import { accountOf } from './possible-accounts.ts'
import { SettingTree } from './setting-tree.ts'
import type { Prediction, Reads, Understood, Variant } from './variant.ts'
import type { Variants } from './variants.ts'

/** The parts of a response that depend on choices: outcome and content, their order, the spelling of domains. */
export const ASPECTS = ['content', 'order', 'spelling'] as const
export type Aspect = (typeof ASPECTS)[number]
export type Fits = Record<Aspect, boolean | undefined>

/** What a service with this assignment may answer. */
export interface Possibilities {
  /** The answers, one for each world. */
  predictions: readonly Prediction[]
  /** The index of the first world that leads to the response; -1 for none. */
  match: number
  /** For each aspect, whether some world leads to it; `undefined` if no world leads to the content. */
  fits: Readonly<Fits>
  /** Equal texts mean that nothing differs in any world. */
  text: string
  /** The settings that decided it. */
  reads: Reads
}

/** One exchange, and the worlds that its request may have met. */
export interface Asked {
  reading: ReadExchange
  worlds: Hypotheses['worlds']
  /** In milliseconds on the service's clock. */
  now: number
  /** Yields to other tasks if the present turn is over. */
  pause(): Promise<void> | undefined
}

/** The answers in all worlds, with the settings that decide them. */
type Answered = Possibilities & { reads: ReadonlySet<string> }
/** The same, by the form in which the accounts are kept. */
type PredictedAnswers = Map<string, SettingTree<Answered>>

/**
 * Predicts what services may answer to one request. Most alternatives make no difference to most requests. So it caches
 * how the request is read and what is answered, by the settings that these depend on.
 */
export class Predictor {
  /** What the service answered in fact; `undefined` if the specification leaves it open and it says nothing. */
  readonly seen: DataParts | undefined
  /** The assumptions that the members of groups depend on. */
  readonly conditions: readonly string[]
  readonly #variants: Variants
  readonly #asked: Asked
  /** Whether the specification leaves open what a success says. */
  readonly #isOpen: boolean
  readonly #known = new Map<string, Possibilities>()
  /** How the request is read, by the compiled contract. */
  readonly #understood = new Map<
    Variant['document'],
    SettingTree<{ understood: Understood; answers: PredictedAnswers }>
  >()
  /** What is answered, by how the request is read. */
  readonly #answers = new Map<string, PredictedAnswers>()
  /** The worlds as accounts, by the form in which they are kept. */
  readonly #accounts = new Map<string, readonly AccountState[]>()

  constructor(variants: Variants, asked: Asked) {
    this.#variants = variants
    this.#asked = asked
    const { worlds, reading } = asked
    const others = worlds.flatMap(({ groups }) =>
      groups.flatMap(({ underOthers = [] }) => underOthers.map(({ id }) => id)),
    )
    this.conditions = [...new Set(others)]
    const { outcome } = reading
    this.#isOpen = reading.operation !== undefined && hasOpenData(reading.operation)
    this.seen =
      outcome.kind === 'success'
        ? this.#viewData(outcome.data, reading.shown)
        : { content: outcome.kind === 'refusal' ? outcome.code : '', order: '', spelling: '' }
  }

  /** All problems of the request, in whatever order a service checks, and the settings behind them. */
  async problemsAt(
    assignment: Assignment,
  ): Promise<{ problems: readonly Problem<string>[]; reads: ReadonlySet<string> }> {
    const { variant, accounts } = await this.#prepare(this.#variants.keyOf(assignment), assignment)
    const reads = new Set<string>()
    return { problems: variant.problemsOf(this.#asked.reading, accounts, this.#asked.now, reads), reads }
  }

  async at(assignment: Assignment): Promise<Possibilities> {
    const key = this.#variants.keyOf(assignment)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const { variant, understood, answers, accounts } = await this.#prepare(key, assignment)
    let answered = answers.find(variant.settings)
    if (answered === undefined) {
      answered = await this.#answer(variant, understood, accounts)
      answers.add(variant.settings, answered.reads, answered)
    }
    const { reads } = answered
    const isRead = (name: string) => understood.reads.has(name) || reads.has(name)
    const possibilities = { ...answered, reads: { has: isRead } }
    this.#known.set(key, possibilities)
    return possibilities
  }

  /** The aspects that some world explains. It stops once all are explained. */
  async fitsAt(assignment: Assignment): Promise<Fits> {
    const key = this.#variants.keyOf(assignment)
    const known = this.#known.get(key)
    if (known !== undefined) return known.fits
    const { variant, understood, answers, accounts } = await this.#prepare(key, assignment)
    const answered = answers.find(variant.settings)
    if (answered !== undefined) return answered.fits
    const fits: Fits = { content: false, order: undefined, spelling: undefined }
    for (const account of accounts) {
      const prediction = variant.answer(understood, account, this.#asked.now, new Set())
      this.#compare(prediction, this.#viewOf(prediction), fits)
      if (fits.content && fits.order && fits.spelling) break
      await this.#asked.pause()
    }
    return fits
  }

  async #prepare(key: string, assignment: Assignment) {
    await this.#asked.pause()
    const variant = this.#variants.known(key) ?? (await this.#variants.load(key))
    const { understood, answers } = this.#understand(variant)
    const isConditional = this.conditions.length > 0
    const others = isConditional ? this.conditions.map((id) => assignment[id] ?? 0).join() : ''
    const keeping = isConditional ? `${variant.keeping} ${others}` : variant.keeping
    let accounts = this.#accounts.get(keeping)
    if (accounts === undefined) {
      accounts = this.#asked.worlds.map((world) => accountOf(world, variant.contract, assignment))
      this.#accounts.set(keeping, accounts)
    }
    const tree = answers.get(keeping) ?? new SettingTree()
    answers.set(keeping, tree)
    return { variant, understood, answers: tree, accounts }
  }

  #understand(variant: Variant): { understood: Understood; answers: PredictedAnswers } {
    const tree = this.#understood.get(variant.document) ?? new SettingTree()
    this.#understood.set(variant.document, tree)
    const known = tree.find(variant.settings)
    if (known !== undefined) return known
    const understood = variant.understand(this.#asked.reading)
    const answers: PredictedAnswers = this.#answers.get(understood.text) ?? new Map()
    this.#answers.set(understood.text, answers)
    tree.add(variant.settings, understood.reads, { understood, answers })
    return { understood, answers }
  }

  /** What is answered in each world. */
  async #answer(variant: Variant, understood: Understood, accounts: readonly AccountState[]): Promise<Answered> {
    const reads = new Set<string>()
    const fits: Fits = { content: false, order: undefined, spelling: undefined }
    let match = -1
    const texts: string[] = []
    const predictions: Prediction[] = []
    for (const account of accounts) {
      const prediction = variant.answer(understood, account, this.#asked.now, reads)
      const view = this.#viewOf(prediction)
      texts.push(
        `${view?.content}\n${view?.order}\n${view?.spelling}\n${reasonOf(prediction)}\n${membersOf(prediction)}`,
      )
      if (this.#compare(prediction, view, fits) && match < 0) match = predictions.length
      predictions.push(prediction)
      await this.#asked.pause()
    }
    return { predictions, match, fits, text: texts.join('\u0000'), reads }
  }

  #viewOf(prediction: Prediction): DataParts | undefined {
    if (!prediction.ok) return { content: prediction.code, order: '', spelling: '' }
    return this.#viewData(prediction.data, shownBy(this.#asked.reading.answering?.id, prediction.data))
  }

  /** The parts of a success. Where its form is open, only the group that it shows counts. */
  #viewData(data: unknown, shown: ShownData): DataParts | undefined {
    if (!this.#isOpen) return viewAnswer(data, shown)
    return shown.group && viewAnswer({ group: shown.group }, shown)
  }

  /** Notes which aspects of the response a prediction explains. Returns whether it explains the content. */
  #compare({ ok }: Prediction, view: DataParts | undefined, fits: Fits): boolean {
    const { seen } = this
    if (ok !== (this.#asked.reading.outcome.kind === 'success')) return false
    if (seen !== undefined && view?.content !== seen.content) return false
    fits.content = true
    fits.order = fits.order === true || seen === undefined || view?.order === seen.order
    fits.spelling = fits.spelling === true || seen === undefined || view?.spelling === seen.spelling
    return true
  }
}

/** Whether the specification leaves open what a success of the operation says. */
function hasOpenData({ success }: Operation): boolean {
  return valueAt(success.schema, '/properties/data/x-assumption/open/success') === true
}

/** Why a request is refused; empty if it is not. */
export function reasonOf(prediction: Prediction): string {
  if (prediction.ok) return ''
  const [{ code, reason = '' }] = prediction.problems
  return `${code}/${reason}`
}

/** The members of all groups after a request, because some choices change more than the response shows. */
function membersOf(prediction: Prediction): string {
  if (!prediction.ok || prediction.state.groups.size < 2) return ''
  return [...prediction.state.groups.values()].map(({ id, domains }) => `${id} ${domains.length}`).join()
}
