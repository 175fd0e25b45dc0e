import type { Contract } from '../contract/contract.ts'
import type { Json } from '../ground/json.ts'

/**
 * The hostnames in a field of a conforming body, in canonical form. An entry that is no hostname stays unchanged. Only
 * a field whose schema permits any string can have such an entry.
 */
export function hostnamesIn(
  body: Json,
  field: string,
  { canonicalHostname }: Pick<Contract, 'canonicalHostname'>,
): string[] {
  const names = (body[field] ?? []) as string[]
  return names.map((name) => canonicalHostname(name) ?? name)
}
