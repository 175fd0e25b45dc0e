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

/** Coordinates the use of ordinals among several servers. */
export interface Reservations {
  /** Reserves `count` ordinals for this server alone; resolves to the first of them. */
  reserve(kind: AnonymousKind, count: number): Promise<number>
  /** The unique name of this server. */
  readonly instance: string
}

/** How many ordinals are reserved at a time. Half of them must last until the next block arrives. */
const BLOCK = 1_000

/** The reservations of a server for one kind. */
interface Blocks {
  /** The ordinal before the next one, and the last one of the block in use. */
  at: number
  end: number
  /** The first ordinal of the block that comes next. */
  next: number | undefined
  asked: Promise<void> | undefined
  /** How many ids were given without a block. */
  without: number
}

/**
 * The ids of one of several servers. It reserves ordinals in blocks, ahead of their use, so that no request waits for
 * one. A single server gives the same ids as one with accounts of its own. If no block arrives in time, the source of
 * the ids contains the name of the server. Such ids are unique too, but differ in the next run.
 */
export async function shareAnonymousIds(
  seed: number,
  format: AnonymousIdFormat,
  { reserve, instance }: Reservations,
): Promise<{ nextId: AnonymousIds; renew(): Promise<void> }> {
  const blocks = new Map<AnonymousKind, Blocks>()
  await renew()
  return { nextId, renew }

  /** Discards the reservations, which are invalid because the store was emptied. */
  async function renew(): Promise<void> {
    for (const kind of ANONYMOUS_KINDS) {
      const without = blocks.get(kind)?.without ?? 0
      const block: Blocks = { at: 0, end: 0, next: undefined, asked: undefined, without }
      blocks.set(kind, block)
      block.asked = prepare(kind, block)
    }
    await Promise.all(ANONYMOUS_KINDS.map((kind) => blocks.get(kind)?.asked))
  }

  async function prepare(kind: AnonymousKind, block: Blocks): Promise<void> {
    // After a failure, the next request tries again.
    block.next = await reserve(kind, BLOCK).catch(() => undefined)
    block.asked = undefined
  }

  function nextId(kind: AnonymousKind): string {
    const block = blocks.get(kind) as Blocks
    if (block.at === block.end && block.next !== undefined) {
      block.at = block.next - 1
      block.end = block.at + BLOCK
      block.next = undefined
    }
    if (block.end - block.at <= BLOCK / 2 && block.next === undefined) block.asked ??= prepare(kind, block)
    const source = sourceOf(seed, kind)
    if (block.at === block.end) return requestIdOf(`${source}\n${instance}`, ++block.without, format)
    return requestIdOf(source, ++block.at, format)
  }
}

function sourceOf(seed: number, kind: AnonymousKind): string {
  return kind === 'unauthenticated' ? `${seed}` : `${seed}\n${kind}`
}
