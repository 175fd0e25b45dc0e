import { ERROR_CODES, type ErrorCode, type Problem, type Problems } from '../domain/errors.ts'
import { ContractError } from './contract-error.ts'
import { isObject, type Json, pointTo, stepsOf } from './json.ts'

interface Reason {
  status?: number
  message: string
  /** Whether it happens before an operation is known, so that no operation declares it. */
  outside?: boolean
}

interface Entry extends Reason {
  status: number
  reasons: Readonly<Record<string, Reason>>
}

/** What goes on the wire for a refused request. */
export interface Answer {
  status: number
  code: ErrorCode
  message: string
}

/** The `x-errors` of the document: which of several problems is answered, with which status and words. */
export class Catalogue {
  /** In order of precedence. */
  readonly codes: readonly ErrorCode[]
  readonly #entries: ReadonlyMap<ErrorCode, Entry>
  readonly #ranks: ReadonlyMap<ErrorCode, number>

  private constructor(entries: ReadonlyMap<ErrorCode, Entry>) {
    this.codes = [...entries.keys()]
    this.#entries = entries
    this.#ranks = new Map(this.codes.map((code, rank) => [code, rank]))
  }

  /** @throws ContractError for a code that behaviour does not know, or knows and does not find. */
  static read(document: Json, file: string): Catalogue {
    const pointer = '/components/x-errors'
    const components = isObject(document['components']) ? document['components'] : {}
    const given = isObject(components['x-errors']) ? components['x-errors'] : {}
    const entries = new Map<ErrorCode, Entry>()
    for (const [code, entry] of Object.entries(given)) {
      if (code.startsWith('x-')) continue
      if (!isErrorCode(code))
        throw new ContractError(file, pointTo(pointer, code), `No behaviour answers with the code ${code}.`)
      entries.set(code, { reasons: {}, ...(entry as Omit<Entry, 'reasons'>) })
    }
    const missing = ERROR_CODES.find((code) => !entries.has(code))
    if (missing) throw new ContractError(file, pointer, `The catalogue needs an entry for the code ${missing}.`)
    return new Catalogue(entries)
  }

  has(code: string): code is ErrorCode {
    return this.#ranks.has(code as ErrorCode)
  }

  /** The statuses with which operations answer this code. */
  statusesOf(code: ErrorCode): Set<number> {
    const { status, reasons } = this.#entry(code)
    const inside = Object.values(reasons).filter((reason) => reason.outside !== true)
    return new Set([status, ...inside.map((reason) => reason.status ?? status)])
  }

  /** The problem that is answered: the first of those whose code ranks highest. */
  foremost([first, ...rest]: Problems): Problem {
    const rank = ({ code }: Problem) => this.#ranks.get(code) ?? Number.POSITIVE_INFINITY
    return rest.reduce((foremost, problem) => (rank(problem) < rank(foremost) ? problem : foremost), first)
  }

  answer(problem: Problem): Answer {
    const entry = this.#entry(problem.code)
    const reason = Object.hasOwn(entry.reasons, problem.reason ?? '') ? entry.reasons[problem.reason ?? ''] : undefined
    return {
      status: reason?.status ?? entry.status,
      code: problem.code,
      message: fillIn((reason ?? entry).message, problem),
    }
  }

  #entry(code: ErrorCode): Entry {
    const entry = this.#entries.get(code)
    if (entry === undefined) throw new Error(`The catalogue has no entry for the code ${code}.`)
    return entry
  }
}

function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code)
}

function fillIn(template: string, { field, value, about }: Problem): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'field') return `\`${fieldName(field ?? '')}\``
    if (name === 'value') return shorten(JSON.stringify(value) ?? 'undefined')
    return shorten(String(about?.[name] ?? `{${name}}`))
  })
}

/** `/domains/3` → `domains[3]`; what is no pointer is the name of a query parameter and stays as it is. */
function fieldName(field: string): string {
  if (!field.startsWith('/')) return shorten(field)
  return stepsOf(field)
    .map((step, index) => (index === 0 ? shorten(step) : /^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
}

/** Enough of what a client sent to recognise it; an error message is no place to send a megabyte back. */
function shorten(text: string): string {
  const characters = [...text.slice(0, 202)]
  return characters.length <= 100 ? text : `${characters.slice(0, 99).join('')}…`
}
