import { createRandom } from '../support/random.ts'

/** Numbers that look like chance and are the same at every run of a seed. */
export class Chance {
  /** From 0 up to, not including, 1. */
  readonly next: () => number

  constructor(seed: number) {
    this.next = createRandom(seed)
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }
}
