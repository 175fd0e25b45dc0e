import { requestIdOf } from './request-id.ts'

/** Requests that belong to no account: those without a key of anybody's, those that are not HTTP, those of a connection too many. */
export const NOBODYS = ['unauthenticated', 'malformed', 'crowded'] as const
export type Nobody = (typeof NOBODYS)[number]

/** Gives the id of the next request of this kind. No two have the same id. */
export type NobodyIds = (kind: Nobody) => string

type Format = 'uuid' | 'hex'

/** The ids of a server that serves its accounts alone: they depend on the seed, and on how many came before. */
export function countNobodyIds(seed: number, format: Format): NobodyIds {
  const ordinals = { unauthenticated: 0, malformed: 0, crowded: 0 }
  return (kind) => requestIdOf(sourceOf(seed, kind), ++ordinals[kind], format)
}

/** Where several servers agree on who uses which ordinals. */
export interface Reservations {
  /** Takes `count` ordinals that nobody else has; resolves to the first of them. */
  reserve(kind: Nobody, count: number): Promise<number>
  /** Names this server, as no other is named. */
  readonly instance: string
}

/** How many ordinals are reserved at a time. Half of them must last until the next block is there. */
export const BLOCK = 1_000

/** What a server has reserved for one kind. */
interface Blocks {
  /** The ordinal before the next one, and the last one of the block in use. */
  at: number
  end: number
  /** The first ordinal of the block that comes next. */
  next: number | undefined
  asked: Promise<void> | undefined
  /** How many ids were given while there was no block. */
  without: number
}

/**
 * The ids of one of several servers. It takes ordinals in blocks, ahead of their use, so that no request waits for one; a
 * server that is alone gives the same ids as one that serves its accounts alone. Where no block could be had in time,
 * ids come from a source that has the name of the server in it: they are as unique, but not the same in the next run.
 */
export async function shareNobodyIds(
  seed: number,
  format: Format,
  { reserve, instance }: Reservations,
): Promise<{ nextId: NobodyIds; renew(): Promise<void> }> {
  const blocks = new Map<Nobody, Blocks>()
  await renew()
  return { nextId, renew }

  /** Forgets what was reserved, where it counts no longer because the ledger was emptied. */
  async function renew(): Promise<void> {
    for (const kind of NOBODYS) {
      const block = { at: 0, end: 0, next: undefined, asked: undefined, without: blocks.get(kind)?.without ?? 0 }
      blocks.set(kind, block)
      prepare(kind, block)
    }
    await Promise.all(NOBODYS.map((kind) => blocks.get(kind)?.asked))
  }

  function prepare(kind: Nobody, block: Blocks): void {
    block.asked = reserve(kind, BLOCK)
      .then(
        (first) => {
          block.next = first
        },
        // The next request asks again.
        () => {},
      )
      .finally(() => {
        block.asked = undefined
      })
  }

  function nextId(kind: Nobody): string {
    const block = blocks.get(kind) as Blocks
    if (block.at === block.end && block.next !== undefined) {
      block.at = block.next - 1
      block.end = block.at + BLOCK
      block.next = undefined
    }
    if (block.end - block.at <= BLOCK / 2 && block.next === undefined && block.asked === undefined) prepare(kind, block)
    const source = sourceOf(seed, kind)
    if (block.at === block.end) return requestIdOf(`${source}\n${instance}`, ++block.without, format)
    return requestIdOf(source, ++block.at, format)
  }
}

function sourceOf(seed: number, kind: Nobody): string {
  return kind === 'unauthenticated' ? `${seed}` : `${seed}\n${kind}`
}
