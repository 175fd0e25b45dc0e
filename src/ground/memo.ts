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
