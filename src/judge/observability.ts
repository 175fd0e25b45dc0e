import type { Assumption } from '../contract/assumptions.ts'
import { givenFields } from '../domain/given-fields.ts'
import { writeJson } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { type ChoiceQuestion, type DecidingRequest, QUESTIONS } from './questions.ts'

/** Whether exchanges of one client can show the choice of a service. */
export interface Observability {
  observable: boolean
  /** Why exchanges cannot show it. */
  because?: string
  /** Why exchanges cannot show some alternatives, by their numbers. */
  except?: Readonly<Record<string, string>>
  /** The requests that a user can send to see it. */
  decide_with?: ChoiceQuestion
}

export function observabilityOf({ id, alternatives, reason, unobservable }: Assumption): Observability {
  if (alternatives.length === 0) return { observable: false, because: reason ?? 'There is no alternative.' }
  if (typeof unobservable === 'string') return { observable: false, because: unobservable }
  const question = Object.hasOwn(QUESTIONS, id) ? QUESTIONS[id] : undefined
  return { observable: true, ...givenFields({ except: unobservable, decide_with: question }) }
}

/** The assumption as JSON. The reason why exchanges cannot show an alternative becomes part of its observability. */
export function reportAssumption(assumption: Assumption) {
  const { unobservable: _, ...shown } = assumption
  return { ...shown, ...observabilityOf(assumption) }
}

/** `yes, by POST /domains with {"domains":["b.example."]}; look at whether it is accepted` */
export function describeObservability(observability: Observability): string {
  const { observable, because = '', except = {}, decide_with: question } = observability
  if (!observable) return `no, because: ${because}`
  const exceptions = Object.entries(except).map(([number, reason]) => ` Not alternative ${number}: ${reason}`)
  return `yes${question === undefined ? '' : `, by ${describeQuestion(question)}`}.${exceptions.join('')}`
}

/** A question in one line. */
export function describeQuestion({ given, requests, look }: ChoiceQuestion): string {
  const [first, ...rest] = requests
  const [second] = rest
  const shown = [first, rest.length === 1 ? second : undefined].flatMap((each) => (each ? [describeRequest(each)] : []))
  if (rest.length > 1) shown.push(`${rest.length} more`)
  return `${shown.join(', then ')}: ${look}${given === undefined ? '' : ` (if ${given})`}`
}

function describeRequest({ method, path, headers = {}, body, pad_to, times = 1 }: DecidingRequest): string {
  const fields = Object.entries(headers).map(([name, value]) =>
    value === null ? `without ${name}` : `with ${name}: ${shorten(value, SHOWN)}`,
  )
  const text = typeof body === 'string' ? show(body) : body === undefined ? undefined : writeJson(body)
  return [
    `${method} ${path}`,
    ...fields,
    ...(text === undefined ? [] : [`${fields.length > 0 ? 'and' : 'with'} ${shorten(text, SHOWN)}`]),
    ...(pad_to === undefined ? [] : [`and spaces up to ${pad_to} bytes`]),
    ...(times > 1 ? [`${times} times`] : []),
  ].join(' ')
}

/** How many characters of a body or header field a line shows. */
const SHOWN = 60

/** A body that is not JSON as it is, or a note that nothing is sent. */
function show(text: string): string {
  return text === '' ? 'an empty body' : `the body ${text}`
}
