/**
 * A pure function of a text whose last answers are remembered, `undefined` excepted. `limit` is how many at most; then all are forgotten,
 * which keeps what is asked for all the time nearly always there. Texts longer than `longest` are not remembered.
 */
export function memoize<Value>(
  compute: (text: string) => Value,
  { limit, longest = Number.POSITIVE_INFINITY }: { limit: number; longest?: number },
): (text: string) => Value {
  const answers = new Map<string, Value>()
  return (text) => {
    const known = answers.get(text)
    if (known !== undefined) return known
    const answer = compute(text)
    if (answer === undefined || text.length > longest) return answer
    if (answers.size >= limit) answers.clear()
    answers.set(text, answer)
    return answer
  }
}
