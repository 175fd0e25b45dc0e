/** An entry, and its place among all: those that were added later have higher ones. */
interface Cell<Key, Value> {
  key: Key
  value: Value
  place: number
}

/**
 * An immutable map in insertion order whose versions share one `Map`: a change costs what it changes, not what the map
 * holds. The newest version owns the `Map`; an older one keeps the way back and, in the rare case that somebody reads
 * it, copies.
 */
export class PersistentMap<Key, Value> {
  #cells: Map<Key, Cell<Key, Value>> | undefined
  #newer: PersistentMap<Key, Value> | undefined
  /** What each changed key held in this version; applied backwards to the newer version. */
  #undo: readonly (readonly [Key, Cell<Key, Value> | undefined])[] = []
  /** The place of the next entry. */
  #next: number

  private constructor(cells: Map<Key, Cell<Key, Value>>, next: number) {
    this.#cells = cells
    this.#next = next
  }

  static of<Key, Value>(entries: Iterable<readonly [Key, Value]> = []): PersistentMap<Key, Value> {
    const cells = new Map<Key, Cell<Key, Value>>()
    for (const [key, value] of entries) {
      const known = cells.get(key)
      if (known === undefined) cells.set(key, { key, value, place: cells.size })
      else known.value = value
    }
    return new PersistentMap(cells, cells.size)
  }

  get size(): number {
    return this.#own().size
  }

  get(key: Key): Value | undefined {
    return this.#own().get(key)?.value
  }

  has(key: Key): boolean {
    return this.#own().has(key)
  }

  keys(): IterableIterator<Key> {
    return this.#own().keys()
  }

  *values(): IterableIterator<Value> {
    for (const { value } of this.#own().values()) yield value
  }

  /** A version with these entries: a known key keeps its place, a new one goes last. `undefined` is no value. */
  with(additions: Iterable<readonly [Key, Value]>): PersistentMap<Key, Value> {
    const cells = this.#own()
    const undo: (readonly [Key, Cell<Key, Value> | undefined])[] = []
    let next = this.#next
    for (const [key, value] of additions) {
      const known = cells.get(key)
      undo.push([key, known])
      // Cells are never changed: an older version may have the same.
      cells.set(key, { key, value, place: known?.place ?? next++ })
    }
    return this.#succeed(cells, undo, next)
  }

  /** `with` for one entry, which is what most changes are. */
  set(key: Key, value: Value): PersistentMap<Key, Value> {
    const cells = this.#own()
    const { size } = cells
    const known = cells.get(key)
    cells.set(key, { key, value, place: known?.place ?? this.#next })
    return this.#succeed(cells, [[key, known]], this.#next + cells.size - size)
  }

  without(keys: Iterable<Key>): PersistentMap<Key, Value> {
    const cells = this.#own()
    const undo: (readonly [Key, Cell<Key, Value> | undefined])[] = []
    for (const key of keys) {
      const known = cells.get(key)
      if (known === undefined) continue
      undo.push([key, known])
      cells.delete(key)
    }
    return this.#succeed(cells, undo, this.#next)
  }

  /** The same entries in a map of its own, which later versions of this one do not hold on to. */
  copy(): PersistentMap<Key, Value> {
    return new PersistentMap(new Map(this.#own()), this.#next)
  }

  #succeed(
    cells: Map<Key, Cell<Key, Value>>,
    undo: readonly (readonly [Key, Cell<Key, Value> | undefined])[],
    next: number,
  ): PersistentMap<Key, Value> {
    const newer = new PersistentMap(cells, next)
    this.#cells = undefined
    this.#newer = newer
    this.#undo = undo
    return newer
  }

  #own(): Map<Key, Cell<Key, Value>> {
    if (this.#cells !== undefined) return this.#cells
    const steps: PersistentMap<Key, Value>[] = []
    let version: PersistentMap<Key, Value> = this
    while (version.#cells === undefined && version.#newer !== undefined) {
      steps.push(version)
      version = version.#newer
    }
    let cells = new Map(version.#cells)
    let disordered = false
    for (const step of steps.reverse()) {
      for (const [key, cell] of step.#undo.toReversed()) {
        if (cell === undefined) cells.delete(key)
        else {
          // What was removed comes back at the end of the `Map`, wherever its place is.
          disordered ||= !cells.has(key)
          cells.set(key, cell)
        }
      }
    }
    if (disordered) {
      const inOrder = [...cells.values()].sort((one, other) => one.place - other.place)
      cells = new Map(inOrder.map((cell) => [cell.key, cell]))
    }
    this.#cells = cells
    this.#newer = undefined
    this.#undo = []
    return cells
  }
}
