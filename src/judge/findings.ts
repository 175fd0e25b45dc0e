import type { Assumption } from '../contract/assumptions.ts'
import type { Contract } from '../contract/contract.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { redactKeys } from '../journal/redaction/secrets.ts'
import type { JudgedDifference, KeptFinding, Label } from './finding.ts'

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

/**
 * Tells what the document forbids in a request or a response: the end of an id (`request/body/domains/*\/format`), a JSON
 * pointer into openapi.yaml, and a sentence without its subject, which is the request or the response. What the
 * specification leaves open `isOpen`.
 */
export type Tell = (
  what: string,
  place: string,
  reason: string,
  more?: { isOpen?: boolean; overlay?: string | undefined },
) => void

const REMEDY = 'Another client may have changed the account; if none can, --sole-writer makes it a failure.'

/** How many findings one exchange has at most: it may have thousands of unknown fields. */
const MOST = 100

/** Collects what is reported about an exchange: of each id, the first finding. */
export function collectFindings(reading: ReadExchange, contract: Contract) {
  const findings: JudgedDifference[] = []
  const report: Report = (remark) => {
    if (findings.length === MOST) return
    const finding = describeRemark(remark, reading, contract)
    if (findings.every(({ id }) => id !== finding.id)) findings.push(finding)
  }
  return { findings, report }
}

/** The finding that a remark about an exchange is. */
function describeRemark(remark: Remark, reading: ReadExchange, contract: Contract): JudgedDifference {
  const { place, overlay, what, isDoubtful = false } = remark
  // A response can break a rule that stands at another operation.
  const rules = remark.rule === undefined ? [] : contract.operations.flatMap((operation) => operation.rules)
  const rule = rules.find(({ id }) => id === remark.rule)
  const message = rule === undefined ? remark.message : `${rule.says} ${remark.message}`
  if (isDoubtful) {
    return findingOf(reading, contract, { label: 'cannot tell', what: 'changed', message: `${message} ${REMEDY}` })
  }
  if (rule === undefined) {
    const located = { ...(place !== undefined && { pointer: place }), ...(overlay !== undefined && { overlay }) }
    return findingOf(reading, contract, { label: remark.label ?? 'unexplained', what, message, ...located })
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
  readonly #all = new Map<string, KeptFinding>()

  keep(finding: JudgedDifference): void {
    if (!this.isRepeated(finding.id) && this.#all.size < LIMIT) this.#all.set(finding.id, { ...finding, count: 1 })
  }

  /** Whether there was a finding with this id. If so, it is counted again. */
  isRepeated(id: string): boolean {
    const known = this.#all.get(id)
    if (known !== undefined) known.count++
    return known !== undefined
  }

  get findings(): readonly KeptFinding[] {
    return [...this.#all.values()].map((finding) => ({ ...finding }))
  }
}
