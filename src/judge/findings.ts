import type { Operation } from '../contract/api.ts'
import type { Assumption } from '../contract/assumptions.ts'
import type { Contract } from '../contract/contract.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { redactKeys } from '../journal/redaction/key-shapes.ts'
import type { JudgedDifference, Label } from './finding.ts'

/** Something in an exchange that should not be so, or that should be told. */
export interface Remark {
  /** One or two sentences. */
  message: string
  /** `broken rule` by default if there is a rule, else `unexplained`. */
  label?: Label
  /** The rule that is broken, if the specification has one. */
  rule?: string | undefined
  /** The end of the finding's id if there is no rule. */
  what: string
  /** Where openapi.yaml says what is expected, if there is no rule. A JSON pointer. */
  place?: string | undefined
  /** Whether it may be the work of another client, so that the service need not be wrong. */
  isDoubtful?: boolean
  /** With `another choice`: what an overlay would have to say. */
  overlay?: string | undefined
}

export type Report = (remark: Remark) => void

/** What the document forbids in a request or a response. */
export interface ContractProblem {
  /** What is wrong, as the end of an id: `request/body/domains/*\/format`. */
  what: string
  /** JSON pointer into openapi.yaml. */
  place: string
  /** A sentence without its subject, which is the request or the response. */
  reason: string
  /** Whether the specification leaves it open. */
  isOpen?: boolean
  /** With `isOpen`: what an overlay would have to say. */
  overlay?: string | undefined
}

export type Tell = (problem: ContractProblem) => void

const REMEDY = 'Another client may have changed the account; if none can, --sole-writer makes it a failure.'

/** The finding that a remark about an exchange is. */
export function describeRemark(remark: Remark, reading: ReadExchange, contract: Contract): JudgedDifference {
  const { place, overlay } = remark
  const rule = remark.rule === undefined ? undefined : ruleNamed(remark.rule, contract)
  const message = rule === undefined ? remark.message : `${rule.says} ${remark.message}`
  if (remark.isDoubtful === true) {
    return findingOf(reading, contract, { label: 'cannot tell', what: 'changed', message: `${message} ${REMEDY}` })
  }
  if (rule === undefined) {
    const { label = 'unexplained', what } = remark
    const located = { ...(place !== undefined && { pointer: place }), ...(overlay !== undefined && { overlay }) }
    return findingOf(reading, contract, { label, what, message, ...located })
  }
  const { id } = rule
  const pointer = pointTo(`${rule.place}/x-rule`, id)
  return findingOf(reading, contract, { label: 'broken rule', what: id, message, rule: id, pointer })
}

/** The finding that a service behaves like an alternative of an assumption. */
export function describeChoice(
  number: number,
  { id, spec, place }: Pick<Assumption, 'id' | 'spec' | 'place'>,
  reading: ReadExchange,
  contract: Contract,
): JudgedDifference {
  const message = `The service has chosen alternative ${number} of ${id}. ${spec}`
  const choice = { label: 'decides assumption', assumption: id, alternative: number, pointer: place } as const
  return findingOf(reading, contract, { ...choice, what: `${id}/${number}`, message })
}

/** A response can break a rule that stands at another operation. */
function ruleNamed(id: string, { operations }: Contract): Operation['rules'][number] | undefined {
  for (const { rules } of operations) for (const rule of rules) if (rule.id === id) return rule
  return undefined
}

function findingOf(
  reading: ReadExchange,
  { basePath }: Contract,
  { what, message, ...more }: Partial<JudgedDifference> & { label: Label; what: string; message: string },
): JudgedDifference {
  const { exchange, response, path, query } = reading
  const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path
  return {
    id: idOf(more.label, reading, what),
    request_id: exchange.id,
    method: exchange.request.method,
    path: redactKeys(below + (query === undefined ? '' : `?${query}`)),
    status: response.status,
    ...quote('asked', exchange.request.body),
    ...quote('answered', response.body),
    ...more,
    message: redactKeys(message),
  }
}

/** How many bytes of a body a finding quotes. */
const QUOTED = 400

function quote(field: 'asked' | 'answered', body: SeenBody): Pick<JudgedDifference, typeof field> {
  if (!body.isKnown || body.size === 0) return {}
  return { [field]: shorten(redactKeys(body.bytes.subarray(0, QUOTED).toString()), QUOTED - 1) }
}

/** The id of a finding. `what` is its end. */
export function idOf(label: Label, { operation, route, response }: ReadExchange, what: string): string {
  const neighbour = !route.ok && route.neighbour !== undefined ? route.neighbour.path.slice(1) : 'unknown-path'
  return `${label.replaceAll(' ', '-')}/${operation?.id ?? neighbour}/${response.status}/${what}`
}

/** How many findings are kept, each with another id. */
const LIMIT = 1_000

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
