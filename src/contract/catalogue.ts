import type { Problem, Problems } from '../domain/errors.ts'
import { isObject, type Json, pointTo, stepsOf } from '../ground/json.ts'
import { shorten, show } from '../ground/show.ts'
import { ContractError } from './extensions.ts'

interface Reason {
  status?: number
  /** Another reason of the same code. This reason has its status. */
  as?: string
  message: string
  /** Whether it occurs before the operation is known. Then no operation declares it. */
  outside?: boolean
  /** The code that is answered instead of the code with the reason. Only a reason with `outside` can have one. */
  code?: string
}

interface CatalogueEntry extends Reason {
  status: number
  reasons: Readonly<Record<string, Reason>>
}

/** The status and the error object of a refusal. */
export interface ErrorAnswer {
  status: number
  code: string
  message: string
}

/**
 * The `x-errors` of the document. They decide which one of several problems is answered, with its status and message.
 */
export class Catalogue {
  /** In order of precedence. */
  readonly codes: readonly string[]
  readonly #entries: ReadonlyMap<string, CatalogueEntry>
  readonly #ranks: ReadonlyMap<string, number>
  readonly #file: string

  private constructor(entries: ReadonlyMap<string, CatalogueEntry>, file: string) {
    this.#file = file
    this.codes = [...entries.keys()]
    this.#entries = entries
    this.#ranks = new Map(this.codes.map((code, rank) => [code, rank]))
  }

  /** `expected` are the codes that the code can answer with. @throws ContractError for a missing or unknown code. */
  static read(document: Json, expected: readonly string[], file: string): Catalogue {
    const pointer = '/x-errors'
    const given = isObject(document['x-errors']) ? document['x-errors'] : {}
    const entries = new Map<string, CatalogueEntry>()
    for (const [code, entry] of Object.entries(given)) {
      if (code.startsWith('x-')) continue
      if (!expected.includes(code))
        throw new ContractError(file, pointTo(pointer, code), `No behaviour answers with the code ${code}.`)
      const complete: CatalogueEntry = { reasons: {}, ...(entry as Omit<CatalogueEntry, 'reasons'>) }
      entries.set(code, complete)
    }
    const missing = expected.find((code) => !entries.has(code))
    if (missing) throw new ContractError(file, pointer, `The catalogue needs an entry for the code ${missing}.`)
    return new Catalogue(entries, file)
  }

  has(code: string): boolean {
    return this.#ranks.has(code)
  }

  /** Every status of a refusal, including refusals that belong to no operation. */
  get statuses(): Set<number> {
    const entries = [...this.#entries.values()]
    return new Set(
      entries.flatMap((entry) => [entry, ...Object.values(entry.reasons)].map((each) => statusOf(each, entry))),
    )
  }

  /** The statuses that operations answer this code with. */
  statusesOf(code: string): Set<number> {
    const entry = this.#entry(code)
    const { status, reasons } = entry
    const inside = Object.values(reasons).filter((reason) => reason.outside !== true)
    return new Set([status, ...inside.map((reason) => statusOf(reason, entry))])
  }

  /** A problem with this code that is answered with the status. It has a reason if it needs one. */
  problemWith(code: string, status: number): Problem<string> | undefined {
    const entry = this.#entry(code)
    if (entry.status === status) return { code }
    const reason = Object.keys(entry.reasons).find((name) => statusOf(entry.reasons[name], entry) === status)
    return reason === undefined ? undefined : { code, reason }
  }

  /** The problem that is answered: the first one with the highest-ranked code. */
  foremost([first, ...rest]: Problems<string>): Problem<string> {
    const rank = ({ code }: Problem<string>) => this.#ranks.get(code) ?? Number.POSITIVE_INFINITY
    return rest.reduce((foremost, problem) => (rank(problem) < rank(foremost) ? problem : foremost), first)
  }

  answer(problem: Problem<string>): ErrorAnswer {
    const entry = this.#entry(problem.code)
    const reason = Object.hasOwn(entry.reasons, problem.reason ?? '') ? entry.reasons[problem.reason ?? ''] : undefined
    return {
      status: statusOf(reason, entry),
      code: reason?.code ?? problem.code,
      message: fillIn((reason ?? entry).message, problem),
    }
  }

  #entry(code: string): CatalogueEntry {
    const entry = this.#entries.get(code)
    if (entry === undefined)
      throw new ContractError(this.#file, '/x-errors', `The catalogue has no entry for the code ${code}.`)
    return entry
  }
}

function statusOf(reason: Reason | undefined, { status, reasons }: CatalogueEntry): number {
  return reason?.status ?? reasons[reason?.as ?? '']?.status ?? status
}

function fillIn(template: string, { field, value, about }: Problem<string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'field') return field === '' ? 'The body' : `\`${fieldName(field ?? '')}\``
    if (name === 'value') return show(value)
    const text = String(about?.[name] ?? `{${name}}`)
    return HELP.has(name) ? text : shorten(text)
  })
}

/** These values describe the correct input. They are this program's own texts, and a reader needs them in full. */
const HELP = new Set(['allowed', 'expected'])

/** `/domains/3` → `domains[3]`. A field that is no pointer is the name of a query parameter and stays unchanged. */
function fieldName(field: string): string {
  if (!field.startsWith('/')) return shorten(field)
  return stepsOf(field)
    .map((step, index) => (index === 0 ? shorten(step) : /^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
}
