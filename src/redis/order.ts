/** A record whose final ordinal is not known yet. */
interface Unordered<Item> {
  stamp: number
  item: Item
}

/**
 * Puts what the servers have recorded into the order of the stamps. A server sends its exchanges in batches, so the store
 * may record a later one first. The ordinals of the records are given in the new order. As all servers get the same
 * records, and use an ordinal only when no earlier record can come any more, all give the same ordinals.
 */
export class Order<Item> {
  /** The ordinals that are not given yet, in order. */
  readonly #ordinals: number[] = []
  readonly #waiting: Unordered<Item>[] = []

  /** The stamp of the first record that waits. */
  get first(): number | undefined {
    return this.#waiting[0]?.stamp
  }

  /** Takes the next record. */
  add(recorded: number, stamp: number, item: Item): void {
    this.#ordinals.push(recorded)
    let place = this.#waiting.length
    while (place > 0 && (this.#waiting[place - 1] as Unordered<Item>).stamp > stamp) place--
    this.#waiting.splice(place, 0, { stamp, item })
  }

  /** Gives the ordinals of all records up to a time, after which no record with an earlier stamp comes. */
  settle(upto: number, give: (item: Item, ordinal: number) => void): void {
    let count = 0
    while (count < this.#waiting.length && (this.#waiting[count] as Unordered<Item>).stamp <= upto) count++
    const settled = this.#waiting.splice(0, count)
    const ordinals = this.#ordinals.splice(0, count)
    for (const [index, { item }] of settled.entries()) give(item, ordinals[index] as number)
  }

  clear(): void {
    this.#ordinals.length = 0
    this.#waiting.length = 0
  }
}
