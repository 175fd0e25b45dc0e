import type { Operation } from '../contract/api.ts'
import { PAUSE, type Work } from '../ground/work.ts'
import type { Entry } from '../journal/entry.ts'
import type { Redact } from '../journal/redaction/redaction.ts'

/** A request of one side, as far as the comparison shows it. */
export interface ComparedRequest {
  request_id: string
  operation: string | null
  method: string
  /** The path of the operation, or of the request if it belongs to no operation. */
  path: string
  status: number | null
  code: string | null
  injected: boolean
}

/** An answer with the number of times that each side got it, and the oldest request of each side that did. */
interface ComparedAnswer extends Pick<ComparedRequest, 'status' | 'code' | 'injected'> {
  one: number
  other: number
  one_request: string | null
  other_request: string | null
}

/** The requests of an operation; all three are null for those that belong to no operation. */
interface ComparedOperation {
  operation: string | null
  method: string | null
  path: string | null
  one: number
  other: number
  answers: ComparedAnswer[]
}

/** The first place at which two sides did something different. */
interface Parting {
  /** The number of the request, from 1. */
  position: number
  /** Null if the side made no further request. */
  one: ComparedRequest | null
  other: ComparedRequest | null
}

export interface RequestsComparison {
  /** The number of compared requests. */
  one: number
  other: number
  operations: ComparedOperation[]
  /** Null if both sides made the same requests in the same order and got the same answers. */
  parting: Parting | null
}

/**
 * Compares two sequences of requests, the oldest first: operation, status and code. `redactorFor` hides the secrets of
 * an entry. It is work that can pause, and the sequences may be read while they grow.
 */
export function* compareRequests(
  one: Iterable<Entry>,
  other: Iterable<Entry>,
  redactorFor: (entry: Entry) => Redact,
): Work<RequestsComparison> {
  const tally = new AnswerTally()
  const [former, latter] = [one[Symbol.iterator](), other[Symbol.iterator]()]
  let parting: Parting | null = null
  for (let position = 1; ; position++) {
    if (position % PAUSE === 0) yield
    const [first, second] = [next(former), next(latter)]
    if (first === undefined && second === undefined) break
    if (first !== undefined) tally.add(first, 'one')
    if (second !== undefined) tally.add(second, 'other')
    if (parting !== null || (first && second && kindOf(first) === kindOf(second))) continue
    const describe = (entry: Entry | undefined) => entry && describeRequest(entry, redactorFor(entry))
    parting = { position, one: describe(first) ?? null, other: describe(second) ?? null }
  }
  return { ...tally.totals, operations: tally.operations, parting }
}

type SideName = 'one' | 'other'

/** The requests of both sides by operation and answer, in the order of their first request. */
class AnswerTally {
  readonly totals = { one: 0, other: 0 }
  readonly #operations = new Map<Operation | undefined, ComparedOperation>()
  readonly #answers = new Map<string, ComparedAnswer>()

  get operations(): ComparedOperation[] {
    return [...this.#operations.values()]
  }

  add(entry: Entry, side: SideName): void {
    const { operation } = entry
    let compared = this.#operations.get(operation)
    if (compared === undefined) {
      const { id = null, method = null, path = null } = operation ?? {}
      compared = { operation: id, method, path, one: 0, other: 0, answers: [] }
      this.#operations.set(operation, compared)
    }
    const answer = this.#answerOf(entry, compared)
    answer[`${side}_request`] ??= entry.requestId
    for (const counts of [this.totals, compared, answer]) counts[side]++
  }

  #answerOf({ operation, status, code, injected }: Entry, { answers }: ComparedOperation): ComparedAnswer {
    const key = `${operation?.id} ${status} ${code} ${injected}`
    let answer = this.#answers.get(key)
    if (answer === undefined) {
      const counts = { one: 0, other: 0, one_request: null, other_request: null }
      answer = { status: status ?? null, code: code ?? null, injected, ...counts }
      this.#answers.set(key, answer)
      answers.push(answer)
    }
    return answer
  }
}

/** What the client did and what it got, as one text. */
function kindOf({ operation, method, path, status, code }: Entry): string {
  return `${operation?.id ?? `${method} ${path}`} ${status} ${code}`
}

function describeRequest({ requestId, operation, status, code, injected, ...entry }: Entry, redact: Redact) {
  const { id = null, method = redact(entry.method), path = redact(entry.path) } = operation ?? {}
  return { request_id: requestId, operation: id, method, path, status: status ?? null, code: code ?? null, injected }
}

function next<Item>(iterator: Iterator<Item>): Item | undefined {
  const step = iterator.next()
  return step.done === true ? undefined : step.value
}
