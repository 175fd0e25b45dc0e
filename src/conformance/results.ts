import { DecidedChoices } from '../choices/decided-choices.ts'
import { type Assignment, Observations } from '../choices/observation.ts'
import type { Permitted } from '../choices/permitted.ts'
import type { Variants } from '../choices/variants.ts'
import type { Contract } from '../contract/contract.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import type { JudgedDifference, Label } from '../judge/finding.ts'
import { findingOf } from './contract-problems.ts'

/** How many findings are kept, each with another id. */
const FINDINGS_LIMIT = 1_000
/** How many texts of messages are kept for each code or operation. */
const MESSAGES_LIMIT = 5

/** What an investigation has found so far. Each kind of result has a limit. */
export class InvestigationResults {
  readonly observations = new Observations()
  readonly #contract: Contract
  readonly #variants: Variants
  readonly #permitted: Permitted
  readonly #decided = new DecidedChoices()
  readonly #findings = new Map<string, { finding: JudgedDifference; count: number }>()
  readonly #messages = new Map<string, Set<string>>()

  constructor(contract: Contract, variants: Variants, permitted: Permitted) {
    this.#contract = contract
    this.#variants = variants
    this.#permitted = permitted
  }

  /** The choices that are certain so far. */
  get fixed(): Assignment {
    return this.#decided.fixed
  }

  /** The first finding of each id, and how often the id occurred. */
  get findings(): readonly { finding: JudgedDifference; count: number }[] {
    return [...this.#findings.values()]
  }

  /** The texts of messages, by code or by `operationId` of a success. */
  get messages(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#messages].map(([kind, texts]) => [kind, [...texts]]))
  }

  /** Makes a finding about an exchange, without keeping it. */
  describe(
    reading: ReadExchange,
    label: Label,
    what: string,
    message: string,
    rule?: { id: string; place: string },
  ): JudgedDifference {
    const finding = findingOf(reading, this.#contract, { label, what, message })
    if (rule === undefined || label !== 'broken rule') return finding
    const pointer = pointTo(`${rule.place}/x-rule`, rule.id)
    return { ...finding, rule: rule.id, pointer, line: this.#permitted.lineOf(pointer) }
  }

  keep(finding: JudgedDifference): void {
    const kept = this.#findings.get(finding.id)
    if (kept !== undefined) kept.count++
    else if (this.#findings.size < FINDINGS_LIMIT) this.#findings.set(finding.id, { finding, count: 1 })
  }

  observeSetting(
    name: Parameters<Variants['choicesOf']>[0],
    fits: (value: unknown) => boolean,
    exchange: Exchange,
  ): void {
    this.observe(this.#variants.assignmentsWith(name, fits) ?? [], exchange)
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
