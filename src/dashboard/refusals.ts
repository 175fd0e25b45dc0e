export interface Problem {
  code: string
  message: string
  /** A JSON pointer into the body, or the name of a parameter; null for the whole request. */
  field?: string | null
}

/** A refusal by the control plane. The texts come from the control plane. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly problems: readonly Problem[]

  constructor(status: number, { code, message, problems }: Problem & { problems: readonly Problem[] }) {
    super(message)
    this.status = status
    this.code = code
    this.problems = problems
  }
}

/** Whether the control plane has refused a request because its subject does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Refused && error.status === 404
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Adds words to the message of an error. */
export function addWords(error: unknown, words: string): unknown {
  if (!(error instanceof Error)) return error
  const message = error.message + words
  return error instanceof Refused ? new Refused(error.status, { ...error, message }) : new Error(message)
}

/** The server does not answer, or the answer comes from another program. */
export class Unreachable extends Error {}

/** Reads the body of a failure; `undefined` if it does not come from the control plane. */
export function readRefusal(status: number, body: unknown): Refused | undefined {
  if (!isObject(body) || !isProblem(body['error'])) return undefined
  const { code, message } = body['error']
  const problems = 'problems' in body['error'] ? body['error'].problems : []
  return new Refused(status, { code, message, problems: Array.isArray(problems) ? problems.filter(isProblem) : [] })
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isProblem(value: unknown): value is Problem {
  return isObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string'
}
