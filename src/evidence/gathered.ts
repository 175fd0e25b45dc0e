import type { Contract } from '../contract/contract.ts'
import { pointTo } from '../ground/json.ts'
import { findingOf } from './contract-problems.ts'
import { Decided } from './decided.ts'
import type { Exchange } from './exchange.ts'
import type { Finding, Label } from './finding.ts'
import { type Assignment, Observations } from './observation.ts'
import type { Permitted } from './permitted.ts'
import type { Reading } from './reading.ts'
import type { Variants } from './variants.ts'

/** How many findings are kept, each of another id. */
const FINDINGS_LIMIT = 1_000
/** How many texts of messages are kept of each kind. */
const MESSAGES_LIMIT = 5

/** What an investigation has found out so far, of which each kind is limited. */
export class Gathered {
  readonly observations = new Observations()
  readonly #contract: Contract
  readonly #variants: Variants
  readonly #permitted: Permitted
  readonly #decided = new Decided()
  readonly #findings = new Map<string, { finding: Finding; count: number }>()
  readonly #messages = new Map<string, Set<string>>()

  constructor(contract: Contract, variants: Variants, permitted: Permitted) {
    this.#contract = contract
    this.#variants = variants
    this.#permitted = permitted
  }

  /** The choices that are certain by now. */
  get fixed(): Assignment {
    return this.#decided.fixed
  }

  /** The first finding of each id, and how many there were. */
  get findings(): readonly { finding: Finding; count: number }[] {
    return [...this.#findings.values()]
  }

  /** The texts of messages, by code or by `operationId` of a success. */
  get messages(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#messages].map(([kind, texts]) => [kind, [...texts]]))
  }

  /** A finding about an exchange, which is not kept yet. */
  describe(
    reading: Reading,
    label: Label,
    what: string,
    message: string,
    rule?: { id: string; place: string },
  ): Finding {
    const finding = findingOf(reading, this.#contract, { label, what, message })
    if (rule === undefined || label !== 'broken rule') return finding
    const pointer = pointTo(`${rule.place}/x-rule`, rule.id)
    return { ...finding, rule: rule.id, pointer, line: this.#permitted.lineOf(pointer) }
  }

  keep(finding: Finding): void {
    const kept = this.#findings.get(finding.id)
    if (kept !== undefined) kept.count++
    else if (this.#findings.size < FINDINGS_LIMIT) this.#findings.set(finding.id, { finding, count: 1 })
  }

  observeSetting(
    name: Parameters<Variants['choicesOf']>[0],
    fits: (value: unknown) => boolean,
    exchange: Exchange,
  ): void {
    const choices = this.#variants.choicesOf(name)
    if (choices === undefined) return
    const numbers = [...choices.values.keys()].filter((number) => fits(choices.values[number]))
    this.observe(
      numbers.map((number) => ({ [choices.id]: number })),
      exchange,
    )
  }

  observeAll(all: readonly (readonly Assignment[])[], exchange: Exchange): void {
    for (const allows of all) this.observe(allows, exchange)
  }

  observe(allows: readonly Assignment[], { id }: Exchange): void {
    if (allows.length === 0) return
    if (this.observations.add({ allows, evidence: [id], count: 1 })) this.#decided.add(allows)
  }

  noteMessage({ of, text }: { of: string; text: string }): void {
    const texts = this.#messages.get(of) ?? new Set()
    if (texts.size < MESSAGES_LIMIT) this.#messages.set(of, texts.add(text))
  }
}
