/** A value, and the place of its key in the order of insertion. */
interface Cell<Value> {
  value: Value
  place: number
}

type Cells<Key, Value> = Map<Key, Cell<Value>>

/**
 * An immutable map in insertion order. All versions share one `Map`, so that a change costs what it changes, and not what
 * the map contains. The newest version owns the `Map`. An older version keeps what its successor changed, and makes a
 * copy in the rare case that somebody reads it. Each version changes one key only: the garbage collector keeps chains of
 * versions for long, so each version is as small as possible.
 */
export class PersistentMap<Key, Value> {
  /** The cells; or the next version, where this one is not the newest. */
  #at: Cells<Key, Value> | PersistentMap<Key, Value>
  /** Where this version is not the newest: the key that the next version changed, and its cell in this version. */
  #key: Key | undefined
  #cell: Cell<Value> | undefined
  /** The place of the next key that is added. */
  readonly #next: number

  private constructor(cells: Cells<Key, Value>, next: number) {
    this.#at = cells
    this.#key = undefined
    this.#cell = undefined
    this.#next = next
  }

  static of<Key, Value>(entries: Iterable<readonly [Key, Value]> = []): PersistentMap<Key, Value> {
    const cells: Cells<Key, Value> = new Map()
    for (const [key, value] of entries) {
      const known = cells.get(key)
      if (known === undefined) cells.set(key, { value, place: cells.size })
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

  *entries(): IterableIterator<[Key, Value]> {
    for (const [key, { value }] of this.#own()) yield [key, value]
  }

  /** A version with this entry: a known key keeps its place, a new key goes to the end. `undefined` is not a value. */
  set(key: Key, value: Value): PersistentMap<Key, Value> {
    const cells = this.#own()
    const known = cells.get(key)
    // Cells are never changed, because older versions may have the same cell.
    cells.set(key, { value, place: known?.place ?? this.#next })
    return this.#succeed(cells, key, known, known === undefined ? this.#next + 1 : this.#next)
  }

  /** `set` for a key that the map does not have, which saves a lookup in a large map. */
  add(key: Key, value: Value): PersistentMap<Key, Value> {
    const cells = this.#own()
    const { size } = cells
    cells.set(key, { value, place: this.#next })
    if (cells.size === size) throw new Error(`The key ${key} was there already`)
    return this.#succeed(cells, key, undefined, this.#next + 1)
  }

  delete(key: Key): PersistentMap<Key, Value> {
    const cells = this.#own()
    const known = cells.get(key)
    if (known === undefined) return this
    cells.delete(key)
    return this.#succeed(cells, key, known, this.#next)
  }

  with(additions: Iterable<readonly [Key, Value]>): PersistentMap<Key, Value> {
    let version: PersistentMap<Key, Value> = this
    for (const [key, value] of additions) version = version.set(key, value)
    return version
  }

  without(keys: Iterable<Key>): PersistentMap<Key, Value> {
    let version: PersistentMap<Key, Value> = this
    for (const key of keys) version = version.delete(key)
    return version
  }

  /** The same entries in a map of their own, which later versions of this map do not keep alive. */
  copy(): PersistentMap<Key, Value> {
    return new PersistentMap(new Map(this.#own()), this.#next)
  }

  #succeed(cells: Cells<Key, Value>, key: Key, cell: Cell<Value> | undefined, next: number): PersistentMap<Key, Value> {
    const newer = new PersistentMap(cells, next)
    this.#at = newer
    this.#key = key
    this.#cell = cell
    return newer
  }

  #own(): Cells<Key, Value> {
    return this.#at instanceof Map ? this.#at : this.#rebuild()
  }

  #rebuild(): Cells<Key, Value> {
    const older: PersistentMap<Key, Value>[] = []
    let version: PersistentMap<Key, Value> = this
    while (!(version.#at instanceof Map)) {
      older.push(version)
      version = version.#at
    }
    let cells = new Map(version.#at)
    let disordered = false
    for (const step of older.reverse()) {
      const key = step.#key as Key
      if (step.#cell === undefined) cells.delete(key)
      else {
        // A removed key comes back at the end of the `Map`, whatever its place is.
        disordered ||= !cells.has(key)
        cells.set(key, step.#cell)
      }
    }
    if (disordered) cells = new Map([...cells].sort(([, one], [, other]) => one.place - other.place))
    this.#at = cells
    this.#key = undefined
    this.#cell = undefined
    return cells
  }
}
