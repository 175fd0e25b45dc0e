/** Bytes of JSON that are parsed while traffic is passed on. */
const LIMIT = 1 << 20

/** The JSON in a body; `undefined` where there is none, or so much that to parse it would delay others. */
export function parseJsonOrNothing(bytes: Buffer): { value: unknown } | undefined {
  if (bytes.length === 0 || bytes.length > LIMIT) return undefined
  try {
    return { value: JSON.parse(bytes.toString()) }
  } catch {
    return undefined
  }
}
