import type { AccountState } from '../domain/account.ts'
import { type DataParts, viewAnswer } from './data.ts'
import type { Hypotheses } from './hypotheses.ts'
import type { Assignment } from './observation.ts'
import type { Reading } from './reading.ts'
import { SettingTree } from './setting-tree.ts'
import type { Prediction, Reads, Understood, Variant } from './variant.ts'
import type { Variants } from './variants.ts'
import { accountOf } from './worlds.ts'

/** What of a response may depend on what was chosen: its outcome and content, their order, and the spelling of domains. */
export const ASPECTS = ['content', 'order', 'spelling'] as const
export type Aspect = (typeof ASPECTS)[number]
export type Fits = Record<Aspect, boolean | undefined>

/** What a service that obeys an assignment may answer. */
export interface Possibilities {
  /** The answers, one for each world. */
  predictions: readonly Prediction[]
  /** Which world would have led to what was seen; -1 for none. */
  match: number
  /** Of each aspect whether some world leads to it; `undefined` where already the content differs. */
  fits: Readonly<Fits>
  /** Equal where nothing differs in any world. */
  text: string
  /** The settings that decided it. */
  reads: Reads
}

/** One exchange, and what the account may have held when its request came. */
export interface Asked {
  reading: Reading
  worlds: Hypotheses['worlds']
  /** In milliseconds on the service's clock. */
  now: number
  /** Lets others have their turn, when it is theirs. */
  pause(): Promise<void> | undefined
}

/**
 * Says what services may answer to one request. Most alternatives make no difference to most requests, so it remembers how
 * the request was read and what was answered, by the settings on which that depends.
 */
export class Predictor {
  /** What was answered in fact. */
  readonly seen: DataParts
  /** The assumptions on which the members of groups depend. */
  readonly conditions: readonly string[]
  readonly #variants: Variants
  readonly #asked: Asked
  readonly #known = new Map<string, Possibilities>()
  /** How the request is read, by what was compiled. */
  readonly #understood = new Map<Variant['document'], SettingTree<Understood>>()
  /** What is answered, by how the request is read and how the accounts are kept. */
  readonly #answered = new Map<string, SettingTree<Possibilities>>()
  /** The worlds as accounts, by how they are kept. */
  readonly #accounts = new Map<string, readonly AccountState[]>()

  constructor(variants: Variants, asked: Asked) {
    this.#variants = variants
    this.#asked = asked
    const { worlds, reading } = asked
    const others = worlds.flatMap(({ groups }) => groups.flatMap(({ otherwise = [] }) => otherwise.map(({ id }) => id)))
    this.conditions = [...new Set(others)]
    const { outcome } = reading
    this.seen =
      outcome.kind === 'success'
        ? viewAnswer(reading.operation?.id, outcome.data)
        : { content: outcome.kind === 'refusal' ? outcome.code : '', order: '', spelling: '' }
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
    const possibilities = { ...answered, reads: union(understood.reads, answered.reads) }
    this.#known.set(key, possibilities)
    return possibilities
  }

  /** Which aspects some world explains. It stops as soon as all are explained. */
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
    const keeping = `${variant.keeping} ${this.conditions.map((id) => assignment[id] ?? 0).join()}`
    let accounts = this.#accounts.get(keeping)
    if (accounts === undefined) {
      accounts = this.#asked.worlds.map((world) => accountOf(world, variant.contract, assignment))
      this.#accounts.set(keeping, accounts)
    }
    const understood = this.#understand(variant)
    const place = `${keeping} ${understood.text}`
    const answers = this.#answered.get(place) ?? new SettingTree()
    this.#answered.set(place, answers)
    return { variant, understood, answers, accounts }
  }

  #understand(variant: Variant): Understood {
    const tree = this.#understood.get(variant.document) ?? new SettingTree()
    this.#understood.set(variant.document, tree)
    const known = tree.find(variant.settings)
    if (known !== undefined) return known
    const understood = variant.understand(this.#asked.reading)
    tree.add(variant.settings, understood.reads, understood)
    return understood
  }

  /** What is answered in each world. */
  async #answer(variant: Variant, understood: Understood, accounts: readonly AccountState[]): Promise<Possibilities> {
    const reads = new Set<string>()
    const fits: Fits = { content: false, order: undefined, spelling: undefined }
    let match = -1
    const texts: string[] = []
    const predictions: Prediction[] = []
    for (const account of accounts) {
      const prediction = variant.answer(understood, account, this.#asked.now, reads)
      const view = this.#viewOf(prediction)
      texts.push(`${view.content}\n${view.order}\n${view.spelling}\n${reasonOf(prediction)}\n${membersOf(prediction)}`)
      if (this.#compare(prediction, view, fits) && match < 0) match = predictions.length
      predictions.push(prediction)
      await this.#asked.pause()
    }
    return { predictions, match, fits, text: texts.join('\u0000'), reads }
  }

  #viewOf(prediction: Prediction): DataParts {
    return prediction.ok
      ? viewAnswer(this.#asked.reading.operation?.id, prediction.data)
      : { content: prediction.code, order: '', spelling: '' }
  }

  /** Notes which aspects of what was seen a prediction explains; whether it explains the content. */
  #compare({ ok }: Prediction, view: DataParts, fits: Fits): boolean {
    if (ok !== (this.#asked.reading.outcome.kind === 'success') || view.content !== this.seen.content) return false
    fits.content = true
    fits.order = fits.order === true || view.order === this.seen.order
    fits.spelling = fits.spelling === true || view.spelling === this.seen.spelling
    return true
  }
}

function union(some: Reads, others: Reads): Reads {
  const all = new Set(some)
  for (const each of others) all.add(each)
  return all
}

/** Why a request is refused; empty where it is not. */
export function reasonOf(prediction: Prediction): string {
  if (prediction.ok) return ''
  const [{ code, reason = '' }] = prediction.problems
  return `${code}/${reason}`
}

/** The members of all groups after a request: some choices change more than the response shows. */
function membersOf(prediction: Prediction): string {
  if (!prediction.ok || prediction.state.groups.size < 2) return ''
  return [...prediction.state.groups.values()].map(({ id, domains }) => `${id} ${domains.length}`).join()
}
