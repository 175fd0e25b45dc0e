export interface Problem {
  code: string
  message: string
  /** A JSON pointer to the part of the body that it is about, or a parameter; null for the request as a whole. */
  field?: string | null
}

/** The control plane refused a request; the texts are its own. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly problems: readonly Problem[]
  /** Names the refused request in the journal; null for a request that is not there. */
  readonly requestId: string | null

  constructor(
    status: number,
    { code, message, problems }: Problem & { problems: readonly Problem[] },
    requestId: string | null = null,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.problems = problems
    this.requestId = requestId
  }
}

/** An error with more words at the end of its message. */
export function addWords(error: unknown, words: string): unknown {
  if (!(error instanceof Error)) return error
  const message = error.message + words
  return error instanceof Refused ? new Refused(error.status, { ...error, message }) : new Error(message)
}

/** The server does not answer, or something else answers in its place. */
export class Unreachable extends Error {}

/** Reads the body of a failure; `undefined` if it is not a failure of the control plane. */
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
