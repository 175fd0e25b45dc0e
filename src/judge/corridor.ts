/** Where the specification demands a refusal, or permits one, and shows no code that fits. */
export const VAGUE = [
  'invalid_request_body',
  'invalid_field_type',
  'invalid_domain',
  'missing_field',
  'request_too_large',
] as const

/** A refusal that every admissible service gives. */
export interface SureRefusal {
  /** Any of these codes may stand for it: the specification names no code, or another way to see it. */
  codes: readonly string[]
  /** A sentence about the request. */
  because: string
  /** The rule of the specification that demands it, if it has one. */
  rule?: string
  /** The domains, or the names of groups, that it rests on; absent if it follows from the request alone. */
  reliesOn?: readonly string[]
}

/**
 * What admissible services may answer to a request. More than one refusal can apply: the specification gives no order
 * of checks, so a service may answer with any of them.
 */
export class Corridor {
  readonly sure: SureRefusal[] = []
  readonly #may: (readonly string[])[] = []

  must(codes: readonly string[], because: string, more: Pick<SureRefusal, 'rule' | 'reliesOn'> = {}): void {
    this.sure.push({ codes, because, ...more })
  }

  may(...codes: readonly string[]): void {
    this.#may.push(codes)
  }

  /** Whether some admissible service refuses the request with this code. */
  permits(code: string): boolean {
    return this.#may.some((codes) => codes.includes(code)) || this.sure.some(({ codes }) => codes.includes(code))
  }

  /** Lets services read the request in another way, so that nothing is sure. */
  loosen(): void {
    for (const { codes } of this.sure) this.may(...codes)
    this.sure.length = 0
  }
}
