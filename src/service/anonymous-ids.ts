import { requestIdOf } from './request-id.ts'

/** The kinds of requests without an account: no valid key, or not HTTP. */
const ANONYMOUS_KINDS = ['unauthenticated', 'malformed'] as const
type AnonymousKind = (typeof ANONYMOUS_KINDS)[number]

/** Gives the unique id of the next request of this kind. */
export type AnonymousIds = (kind: AnonymousKind) => string

type AnonymousIdFormat = 'uuid' | 'hex'

/** The ids of a server with accounts of its own. They depend on the seed and on the number of earlier ids. */
export function countAnonymousIds(seed: number, format: AnonymousIdFormat): AnonymousIds {
  const ordinals = { unauthenticated: 0, malformed: 0 }
  return (kind) => requestIdOf(sourceOf(seed, kind), ++ordinals[kind], format)
}

/** How many ordinals are reserved at a time. Half of them must last until the next block arrives. */
const BLOCK = 1_000

/** Ordinals that are reserved for this server alone. */
interface Block {
  /** The ordinal before the next one, and the last one. */
  at: number
  end: number
}

/** How several servers divide the ordinals among themselves. */
export interface Reservations {
  /** Reserves `count` ordinals for this server alone; resolves to the first of them. */
  reserve(kind: AnonymousKind, count: number): Promise<number>
  /** The unique name of this server. */
  readonly instance: string
}

/**
 * The ids of one of several servers. It reserves ordinals in blocks, ahead of their use, so that no request waits for
 * one. A single server gives the same ids as one with accounts of its own. If no block arrives in time, the source of
 * the ids contains the name of the server. Such ids are unique too, but differ in the next run. `renew` begins with new
 * blocks, because the store was emptied.
 */
export async function shareAnonymousIds(
  seed: number,
  format: AnonymousIdFormat,
  { reserve, instance }: Reservations,
): Promise<{ nextId: AnonymousIds; renew(): Promise<void> }> {
  const blocks = { unauthenticated: [] as Block[], malformed: [] as Block[] }
  const asked = new Map<AnonymousKind, Promise<void>>()
  let without = 0
  await renew()
  return { nextId, renew }

  async function renew(): Promise<void> {
    for (const kind of ANONYMOUS_KINDS) blocks[kind] = []
    await Promise.all(ANONYMOUS_KINDS.map(ask))
  }

  /** Asks for one more block. After a failure, the next request asks again. */
  async function ask(kind: AnonymousKind): Promise<void> {
    const add = (first: number) => void blocks[kind].push({ at: first - 1, end: first - 1 + BLOCK })
    if (!asked.has(kind))
      asked.set(
        kind,
        reserve(kind, BLOCK).then(add, () => {}),
      )
    await asked.get(kind)
    asked.delete(kind)
  }

  function nextId(kind: AnonymousKind): string {
    const [block, next] = blocks[kind]
    if (next === undefined && (block === undefined || block.end - block.at <= BLOCK / 2)) void ask(kind)
    const source = sourceOf(seed, kind)
    if (block === undefined) return requestIdOf(`${source}\n${instance}`, ++without, format)
    if (++block.at === block.end) blocks[kind].shift()
    return requestIdOf(source, block.at, format)
  }
}

function sourceOf(seed: number, kind: AnonymousKind): string {
  return kind === 'unauthenticated' ? `${seed}` : `${seed}\n${kind}`
}
