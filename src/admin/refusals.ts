import { FixtureError, TooManyKeysError } from '../accounts/fixture.ts'
import type { Worlds } from '../accounts/worlds.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { AdminRefusal } from '../contract/control-api.ts'
import { errorEnvelope } from '../contract/reply.ts'
import { type Problem, type Problems, type Refusal, refuse } from '../domain/errors.ts'
import { explainUnknown, nearestName } from '../ground/edit-distance.ts'
import { printable } from '../ground/show.ts'
import { StoreError } from '../store/store-error.ts'

/** `names` are the existing names, if they are few: the refusal suggests the nearest one, or lists all. */
export function notFound(what: string, value: string, names: readonly string[] = []): AdminRefusal {
  const nearest = nearestName(value, names)
  if (nearest !== undefined) return refuse({ code: 'not_found', reason: 'misspelt', value, about: { what, nearest } })
  if (names.length === 0) return refuse({ code: 'not_found', value, about: { what } })
  return refuse({ code: 'not_found', reason: 'choice', value, about: { what, allowed: names.join(', ') } })
}

export function unknownAccount(worlds: Pick<Worlds, 'opensFor'>, id: string): AdminRefusal {
  const isSandbox = worlds.opensFor(id)
  return isSandbox ? refuse({ code: 'not_found', reason: 'sandbox', value: id }) : notFound('account', id)
}

export function unknownName(field: string, value: unknown, names: readonly string[]): AdminRefusal {
  const { reason, about } = explainUnknown(value, names)
  return invalid(field, value, reason, about)
}

/** The refusal of a value that the schema permits but the situation does not. `reason` selects the message. */
export function invalid(
  field: string,
  value: unknown,
  reason: string,
  about: Readonly<Record<string, string | number>> = {},
): AdminRefusal {
  return refuse({ code: 'invalid_value', reason, field, value, about })
}

export function tooMany(limit: number, what: string): AdminRefusal {
  return refuse({ code: 'too_many', about: { limit, what } })
}

export function taken(what: string, value: string): AdminRefusal {
  return refuse({ code: 'taken', value, about: { what } })
}

/** The refusal of a request that the service refuses, in its words. `catalogue` is that of the service. */
export function refusedByService({ problems }: Refusal<string>, catalogue: Catalogue): AdminRefusal {
  const inItsWords = (problem: Problem<string>): Problem<'refused'> => {
    const { code, message } = catalogue.answer(problem)
    return {
      code: 'refused',
      ...(problem.field && { field: problem.field }),
      about: { refusal: code, expected: message },
    }
  }
  const [first, ...others] = problems
  return { ok: false, problems: [inItsWords(first), ...others.slice(0, LISTED - 1).map(inItsWords)] }
}

/** The maximum number of listed problems. A body of megabytes could have as many problems as items. */
const LISTED = 100

/** The envelope of a refusal and its status. The problem that the catalogue ranks highest comes first. */
export function describeRefusal(catalogue: Catalogue, problems: Problems<string>) {
  const first = catalogue.foremost(problems)
  const { status, code, message } = catalogue.answer(first)
  const all = [first, ...problems.filter((problem) => problem !== first)].slice(0, LISTED).map((problem) => {
    const { refusal, expected } = problem.about ?? {}
    const isOfService = problem.code === 'refused'
    const answer = isOfService ? { code: `${refusal}`, message: `${expected}` } : catalogue.answer(problem)
    return { code: answer.code, field: problem.field ?? null, message: printable(answer.message) }
  })
  return { status, body: errorEnvelope({ code, message: printable(message), problems: all }) }
}

/** The refusal for an error. An error without a refusal is thrown again. */
export function refusalFor(error: unknown, account: string | undefined): AdminRefusal {
  if (error instanceof TooManyKeysError) {
    return refuse({ code: 'too_many', reason: 'fixture', about: { expected: error.message } })
  }
  if (error instanceof FixtureError) return refuse({ code: 'invalid_fixture', about: { expected: error.message } })
  if (!(error instanceof StoreError)) throw error
  const { problem, message: expected } = error
  if (problem === 'unknown-account') return notFound('account', account ?? '')
  if (problem === 'taken' || problem === 'damaged') {
    return refuse({ code: 'taken', reason: 'stored', about: { expected } })
  }
  // The store has changed nothing.
  const isFull = problem === 'full' || problem === 'too-large' || problem === 'out-of-memory' || lacksSpace(error)
  return refuse({ code: isFull ? 'insufficient_storage' : 'unavailable', about: { expected } })
}

/** Error codes of the operating system for a full disk, an exceeded disk quota, and a file that is too large. */
const NO_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

function lacksSpace({ cause }: StoreError): boolean {
  return cause instanceof Error && 'code' in cause && NO_SPACE.has(cause.code)
}
