import type { Operation } from '../contract/api.ts'
import type { Assumption } from '../contract/assumptions.ts'
import type { Widest } from '../contract/widest.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { findingOf, idOf } from './contract-check.ts'
import type { JudgedDifference } from './finding.ts'
import type { Remark } from './remark.ts'

/** How many findings are kept, each with another id. */
const LIMIT = 1_000

const REMEDY = 'Another client may have changed the account; if none can, --sole-writer makes it a failure.'

/** The finding that a remark about an exchange is. */
export function describeRemark(remark: Remark, reading: ReadExchange, widest: Widest): JudgedDifference {
  const { contract } = widest
  const rule = remark.rule === undefined ? undefined : ruleNamed(remark.rule, contract)
  const message = rule === undefined ? remark.message : `${rule.says} ${remark.message}`
  if (remark.isDoubtful === true) {
    return findingOf(reading, contract, { label: 'cannot tell', what: 'changed', message: `${message} ${REMEDY}` })
  }
  if (rule === undefined) {
    const { label = 'unexplained', what, place } = remark
    return findingOf(reading, contract, { label, what, message, ...located(place) })
  }
  return findingOf(reading, contract, {
    label: 'broken rule',
    what: rule.id,
    message,
    rule: rule.id,
    pointer: placeOf(rule),
  })
}

/** The finding that a service behaves like an alternative of an assumption. */
export function describeChoice(
  { id, number }: { id: string; number: number },
  reading: ReadExchange,
  widest: Widest,
  assumption: Assumption | undefined,
): JudgedDifference {
  const { spec = '', place } = assumption ?? {}
  const message = `The service has chosen alternative ${number} of ${id}. ${spec}`.trim()
  const described = {
    label: 'decides assumption',
    what: `${id}/${number}`,
    message,
    assumption: id,
    alternative: number,
  } as const
  return findingOf(reading, widest.contract, { ...described, ...located(place) })
}

/** The id of that finding. */
export function idOfChoice(id: string, number: number, reading: ReadExchange): string {
  return idOf('decides assumption', reading, `${id}/${number}`)
}

/** A response can break a rule that stands at another operation. */
function ruleNamed(id: string, { operations }: Widest['contract']): Operation['rules'][number] | undefined {
  for (const { rules } of operations) for (const rule of rules) if (rule.id === id) return rule
  return undefined
}

function placeOf({ place, id }: Operation['rules'][number]): string {
  return pointTo(`${place}/x-rule`, id)
}

function located(pointer: string | undefined): Pick<JudgedDifference, 'pointer'> {
  return pointer === undefined ? {} : { pointer }
}

/** The first finding of each id, and how often the id occurred. */
export class KeptFindings {
  readonly #all = new Map<string, { finding: JudgedDifference; count: number }>()

  keep(finding: JudgedDifference): void {
    if (!this.isRepeated(finding.id) && this.#all.size < LIMIT) this.#all.set(finding.id, { finding, count: 1 })
  }

  /** Whether there was a finding with this id. If so, it is counted again. */
  isRepeated(id: string): boolean {
    const known = this.#all.get(id)
    if (known !== undefined) known.count++
    return known !== undefined
  }

  get findings(): readonly JudgedDifference[] {
    return [...this.#all.values()].map(({ finding }) => finding)
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#all].map(([id, { count }]) => [id, count]))
  }
}
