import type { FoundExchange } from './finder.ts'

/** In milliseconds: how much later the second observer of an exchange may have seen it. */
const DELAY = 10_000

/**
 * Leaves out exchanges that are recorded a second time: by the page and by its service worker, by two recorders, or by
 * two exports of one recording. Only different observers repeat an exchange: if one observer has seen an answer twice,
 * the service has given it twice. The exchanges are in order of time; of two entries, the one with a body stays.
 */
export function dropDuplicates(found: readonly FoundExchange[]): readonly FoundExchange[] {
  const dropped = new Set<FoundExchange>()
  /** The latest exchange with a request id, or without one, with an address. */
  const latest = new Map<string, FoundExchange>()
  for (const exchange of found) {
    const name = exchange.facts.requestId ?? exchange.target
    const other = latest.get(name)
    if (other === undefined || !isSame(other, exchange)) latest.set(name, exchange)
    else if (other.facts.hasBody || !exchange.facts.hasBody) dropped.add(exchange)
    else {
      dropped.add(other)
      exchange.isAfterGap ||= other.isAfterGap
      latest.set(name, exchange)
    }
  }
  return dropped.size === 0 ? found : found.filter((exchange) => !dropped.has(exchange))
}

/** Whether two exchanges are one. Their request ids are the same, or their addresses if they have none. */
function isSame(one: FoundExchange, other: FoundExchange): boolean {
  const { status, observer, requestId } = one.facts
  if (one.method !== other.method || one.target !== other.target || status !== other.facts.status) return false
  const hasId = requestId !== undefined
  const isCopy = one.at === other.at && one.until === other.until
  if (one.recording !== other.recording) return isCopy || (hasId && other.at <= one.until + DELAY)
  if (observer === other.facts.observer) return isCopy && hasId
  return other.at <= one.until + (hasId ? DELAY : 0)
}
