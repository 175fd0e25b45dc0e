/**
 * A pure function of a text that caches its results, except `undefined`. At `limit` results, it drops all of them; the
 * frequent ones are soon cached again. It does not cache the result for a text longer than `longest`.
 */
export function memoize<Value>(
  compute: (text: string) => Value,
  { limit, longest = Number.POSITIVE_INFINITY }: { limit: number; longest?: number },
): (text: string) => Value {
  const results = new Map<string, Value>()
  return (text) => {
    if (text.length > longest) return compute(text)
    const known = results.get(text)
    if (known !== undefined) return known
    const result = compute(text)
    if (result === undefined) return result
    if (results.size >= limit) results.clear()
    results.set(text, result)
    return result
  }
}

/** A pure function of an object that caches the result for as long as the object is in use. */
export function memoizeWeakly<Part extends object, Value>(compute: (part: Part) => Value): (part: Part) => Value {
  const results = new WeakMap<Part, Value>()
  return (part) => {
    let result = results.get(part)
    if (result === undefined) {
      result = compute(part)
      results.set(part, result)
    }
    return result
  }
}

/** The first result for an object, kept for as long as the object is in use, and given again where its basis is the same. */
export class FirstResults<Value> {
  readonly #results = new WeakMap<object, { basis: readonly unknown[]; value: Value }>()

  get(part: object, basis: readonly unknown[], make: () => Value): Value {
    const first = this.#results.get(part)
    if (first?.basis.every((each, index) => each === basis[index])) return first.value
    const value = make()
    if (first === undefined) this.#results.set(part, { basis, value })
    return value
  }
}
