interface Problem {
  code: string
  message: string
}

export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly problems: readonly Problem[]

  constructor(status: number, { code, message }: Problem, problems: readonly Problem[]) {
    super(message)
    this.status = status
    this.code = code
    this.problems = problems
  }
}

/** The server does not answer, or the answer comes from another program. */
export class Unreachable extends Error {}

export function isNotFound(error: unknown): boolean {
  return error instanceof Refused && error.status === 404
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function readRefusal(status: number, body: unknown): Refused | Unreachable {
  const error = isObject(body) ? body['error'] : undefined
  if (!isProblem(error))
    return new Unreachable(`Something other than the server has answered, with the status ${status}.`)
  const listed = 'problems' in error && Array.isArray(error.problems) ? error.problems.filter(isProblem) : []
  // A change that the service would refuse has its code and its words.
  const own = error.code === 'refused' ? (listed[0] ?? error) : error
  return new Refused(status, own, listed)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isProblem(value: unknown): value is Problem {
  return isObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string'
}
