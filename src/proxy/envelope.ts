/** The largest JSON that is parsed while traffic is passed on, in bytes. */
const LIMIT = 1 << 20

/** The JSON in a body; `undefined` if there is none, or if it is so large that parsing would delay other traffic. */
export function parseJsonOrNothing(bytes: Buffer): { value: unknown } | undefined {
  if (bytes.length === 0 || bytes.length > LIMIT) return undefined
  try {
    return { value: JSON.parse(bytes.toString()) }
  } catch {
    return undefined
  }
}
