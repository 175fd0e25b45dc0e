import { Turns } from '../ground/turns.ts'

/** Works on one item after the other. Other tasks, such as the traffic, have their turn before each. */
export class WorkLine<Item> {
  readonly #work: (item: Item) => Promise<void>
  #items: Item[] = []
  #working: Promise<void> | undefined

  /** `work` must not throw. */
  constructor(work: (item: Item) => Promise<void>) {
    this.#work = work
  }

  /** How many items wait, without the one that is worked on. */
  get waiting(): number {
    return this.#items.length
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#working ??= this.#go()
  }

  /** Adds an item, unless the last one is the same. */
  addOnce(item: Item): void {
    if (this.#items.at(-1) !== item) this.add(item)
  }

  /** Removes all items that wait, and returns them. */
  clear(): readonly Item[] {
    return this.#items.splice(0)
  }

  /** Resolves when there is nothing to do. */
  async done(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  async #go(): Promise<void> {
    const turns = new Turns()
    await turns.next()
    for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
      await this.#work(item)
      await turns.next()
    }
    this.#working = undefined
  }
}
