/** Whether arrays and objects are nested more than `limit` levels. Not recursive, because the stack could overflow. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  let level: object[] = isNested(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return level.some((each) => Object.keys(each).length > 0)
    const next: object[] = []
    for (const each of level) {
      // Faster than `Object.values` for an object with many fields.
      const names = Array.isArray(each) ? undefined : Object.keys(each)
      const values = each as Readonly<Record<string | number, unknown>>
      for (let index = 0; index < (names ?? (each as unknown[])).length; index++) {
        const value = values[names?.[index] ?? index]
        if (isNested(value)) next.push(value)
      }
    }
    level = next
  }
  return false
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
