/** A value, and the position of its key in insertion order. */
interface Cell<Value> {
  value: Value
  place: number
}

/** The data that all versions share, from the oldest that is kept to the newest. */
class Cells<Key, Value> extends Map<Key, Cell<Value>> {
  /** The last version that a caller keeps for long. It is weak, because callers do not release it explicitly. */
  kept: WeakRef<PersistentMap<Key, Value>> | undefined = undefined
  /** The number of further changes before the kept version gets its own cells; 0 if none is kept. */
  left = 0
}

/** The cells of every map without entries and without changes, because most maps of most accounts are so. Nothing is put in. */
const NOTHING = new Cells<never, never>()

/** The key of a version that is at most this many versions behind the newest is looked up without a copy. */
const NEAR = 32

function put<Key, Value>(cells: Cells<Key, Value>, key: Key, value: Value): void {
  const known = cells.get(key)
  if (known === undefined) cells.set(key, { value, place: cells.size })
  else known.value = value
}

function settle<Key, Value>(cells: Cells<Key, Value>): void {
  cells.kept?.deref()?.settle()
  cells.kept = undefined
}

/** A key, and its value in an older and in a newer version; `undefined` if that version does not have it. */
export type KeyChange<Key, Value> = [key: Key, before: Value | undefined, after: Value | undefined]

/**
 * An immutable map in insertion order. All versions share one `Map`, so a change costs as much as it changes, not as
 * much as the map contains. The newest version owns the `Map`. An older version stores what its successor changed. It
 * makes a copy only in the rare case that a caller reads more than its size and a few keys. Each version changes only
 * one key. The garbage collector keeps chains of versions for long, so each version is as small as possible.
 *
 * A version that is kept for long declares it with `keep`. Then it stores at most as many changes as it has entries.
 * After more changes, it gets its own copy. Older versions lead to it and share the copy.
 */
export class PersistentMap<Key, Value> {
  /** The cells, or if this is not the newest version, the next version. */
  #at: Cells<Key, Value> | PersistentMap<Key, Value>
  /** If this is not the newest version: the key that the next version changed, and its cell in this version. */
  #key: Key | undefined
  #cell: Cell<Value> | undefined
  /** The position of the next new key. */
  readonly #next: number
  readonly size: number

  private constructor(cells: Cells<Key, Value>, next: number) {
    this.size = cells.size
    this.#at = cells.size === 0 && next === 0 ? NOTHING : cells
    this.#key = undefined
    this.#cell = undefined
    this.#next = next
  }

  static of<Key, Value>(entries: Iterable<readonly [Key, Value]> = []): PersistentMap<Key, Value> {
    const cells = new Cells<Key, Value>()
    for (const [key, value] of entries) put(cells, key, value)
    return new PersistentMap(cells, cells.size)
  }

  /** The map of these entries with their positions, in order of position; see `placed`. */
  static ofPlaced<Key, Value>(entries: Iterable<readonly [Key, Value, place: number]>): PersistentMap<Key, Value> {
    const cells = new Cells<Key, Value>()
    let next = 0
    for (const [key, value, place] of entries) {
      if (place < next) throw new Error(`The place ${place} of ${key} is not after those before it`)
      cells.set(key, { value, place })
      next = place + 1
    }
    return new PersistentMap(cells, next)
  }

  /** The same as `of`, with a pause after each few entries. */
  static *gather<Key, Value>(
    entries: Iterable<readonly [Key, Value]>,
  ): Generator<undefined, PersistentMap<Key, Value>, undefined> {
    const cells = new Cells<Key, Value>()
    let added = 0
    for (const [key, value] of entries) {
      put(cells, key, value)
      if (++added % 200 === 0) yield
    }
    return new PersistentMap(cells, cells.size)
  }

  get(key: Key): Value | undefined {
    return this.#lookUp(key)?.value
  }

  has(key: Key): boolean {
    return this.#lookUp(key) !== undefined
  }

  keys(): IterableIterator<Key> {
    return this.#read().keys()
  }

  *values(): IterableIterator<Value> {
    for (const { value } of this.#read().values()) yield value
  }

  *entries(): IterableIterator<[Key, Value]> {
    for (const [key, { value }] of this.#read()) yield [key, value]
  }

  /** The position of the key in insertion order. A copy on another machine needs it to keep that order. */
  placeOf(key: Key): number | undefined {
    return this.#read().get(key)?.place
  }

  /** A position after those of all entries. */
  get nextPlace(): number {
    return this.#next
  }

  /** The entries with their positions. */
  *placed(): IterableIterator<[key: Key, value: Value, place: number]> {
    for (const [key, { value, place }] of this.#read()) yield [key, value, place]
  }

  /**
   * A version with this entry at its position in another copy of the map. It is the position that the key has here, or
   * one after those of all other entries.
   */
  put(key: Key, value: Value, place: number): PersistentMap<Key, Value> {
    const known = this.#own().get(key)
    if (known?.place === place) return this.set(key, value)
    const others = known === undefined ? this : this.delete(key)
    const cells = others.#own()
    cells.set(key, { value, place })
    return others.#succeed(cells, key, undefined, Math.max(others.#next, place + 1))
  }

  /** A version with this entry. A known key keeps its position, a new key goes to the end. `undefined` is no value. */
  set(key: Key, value: Value): PersistentMap<Key, Value> {
    const cells = this.#own()
    const known = cells.get(key)
    // Cells never change, because older versions may have the same cell.
    cells.set(key, { value, place: known?.place ?? this.#next })
    return this.#succeed(cells, key, known, known === undefined ? this.#next + 1 : this.#next)
  }

  /** `set` for a key that the map does not have. It saves a lookup in a large map. */
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

  /**
   * The same entries in a separate map, as work with a pause after each few entries. Later versions may be made in a
   * pause. Unlike other ways to read an old version, it does not store a copy in that version.
   */
  *replicate(): Generator<undefined, PersistentMap<Key, Value>, undefined> {
    for (;;) {
      const present = this.#find()
      const cells: [Key, Cell<Value>][] = []
      for (const entry of present) {
        cells.push(entry)
        if (cells.length % 200 === 0) yield
      }
      const own = new Map<Key, Cell<Value> | undefined>()
      let version: PersistentMap<Key, Value> = this
      for (let steps = 1; !(version.#at instanceof Cells); steps++) {
        const key = version.#key as Key
        if (!own.has(key)) own.set(key, version.#cell)
        version = version.#at
        if (steps % 1_000 === 0) yield
      }
      // In a pause, a version in between may have got its own cells. Then there are more changes than those seen.
      if (version.#at === present) return yield* this.#assemble(cells, own)
    }
  }

  /** Gives this version its own copy, unless it is the newest. */
  settle(): void {
    this.#read()
  }

  /** Declares that this version is kept for long, however often the map changes. Costs O(1) for the newest version. */
  keep(): void {
    let owner: PersistentMap<Key, Value> = this
    let changes = 0
    while (!(owner.#at instanceof Cells)) {
      owner = owner.#at
      changes++
    }
    const cells = owner.#own()
    const kept = cells.kept?.deref()
    // A later version that is kept lies between this one and the cells.
    if (kept !== undefined && kept !== this && this.#isBefore(kept)) return
    if (changes > this.size) {
      this.#rebuild()
      return
    }
    cells.kept = new WeakRef(this)
    cells.left = Math.max(this.size, 1) - changes + 1
  }

  /**
   * The keys that changed between `older` and this version, each once, in the order of their first change. The cost is
   * the number of changes from `older` to the newest version. Returns `undefined` if the versions share nothing:
   * `older` is no ancestor of this version, or has got its own copy.
   */
  changesSince(older: PersistentMap<Key, Value>): KeyChange<Key, Value>[] | undefined {
    // A single change is the usual case.
    if (older.#at === this && this.#at instanceof Cells) {
      const key = older.#key as Key
      return [[key, older.#cell?.value, this.#at.get(key)?.value]]
    }
    const before = new Map<Key, Cell<Value> | undefined>()
    let version = older
    while (version !== this) {
      if (version.#at instanceof Cells) return undefined
      const key = version.#key as Key
      if (!before.has(key)) before.set(key, version.#cell)
      version = version.#at
    }
    const after = new Map<Key, Cell<Value> | undefined>()
    while (!(version.#at instanceof Cells)) {
      const key = version.#key as Key
      if (before.has(key) && !after.has(key)) after.set(key, version.#cell)
      version = version.#at
    }
    const cells = version.#at
    const changes: KeyChange<Key, Value>[] = []
    for (const [key, cell] of before) {
      const present = after.has(key) ? after.get(key) : cells.get(key)
      if (present !== cell) changes.push([key, cell?.value, present?.value])
    }
    return changes
  }

  /** The cells that this version leads to. */
  #find(): Cells<Key, Value> {
    let version: PersistentMap<Key, Value> = this
    while (!(version.#at instanceof Cells)) version = version.#at
    return version.#at
  }

  /** A map of these cells, but the keys in `own` have other cells or none. Both parts are in order of position. */
  *#assemble(
    present: readonly [Key, Cell<Value>][],
    own: ReadonlyMap<Key, Cell<Value> | undefined>,
  ): Generator<undefined, PersistentMap<Key, Value>, undefined> {
    const others = [...own].filter((entry): entry is [Key, Cell<Value>] => entry[1] !== undefined)
    others.sort(([, one], [, other]) => one.place - other.place)
    const cells = new Cells<Key, Value>()
    let next = 0
    for (const [index, [key, cell]] of present.entries()) {
      if (index % 200 === 199) yield
      if (own.has(key)) continue
      for (let other = others[next]; other !== undefined && other[1].place < cell.place; other = others[++next]) {
        cells.set(...other)
      }
      cells.set(key, cell)
    }
    for (; next < others.length; next++) {
      cells.set(...(others[next] as [Key, Cell<Value>]))
      if (next % 200 === 0) yield
    }
    return new PersistentMap(cells, this.#next)
  }

  #isBefore(other: PersistentMap<Key, Value>): boolean {
    let version: PersistentMap<Key, Value> = this
    while (!(version.#at instanceof Cells)) {
      version = version.#at
      if (version === other) return true
    }
    return false
  }

  #succeed(cells: Cells<Key, Value>, key: Key, cell: Cell<Value> | undefined, next: number): PersistentMap<Key, Value> {
    const newer = new PersistentMap(cells, next)
    this.#at = newer
    this.#key = key
    this.#cell = cell
    if (cells.left > 0 && --cells.left === 0) settle(cells)
    return newer
  }

  /** The cell of a key. If few versions are newer, this needs no copy. */
  #lookUp(key: Key): Cell<Value> | undefined {
    let version: PersistentMap<Key, Value> = this
    for (let steps = 0; steps < NEAR; steps++) {
      if (version.#at instanceof Cells) return version.#at.get(key)
      if (version.#key === key) return version.#cell
      version = version.#at
    }
    return this.#read().get(key)
  }

  /** The cells of this version, to be read. */
  #read(): Cells<Key, Value> {
    return this.#at instanceof Cells ? this.#at : this.#rebuild()
  }

  /** The cells of this version, to be changed. */
  #own(): Cells<Key, Value> {
    if (this.#at === NOTHING) this.#at = new Cells<Key, Value>()
    return this.#read()
  }

  /** Gives this version its own cells. */
  #rebuild(): Cells<Key, Value> {
    const older: PersistentMap<Key, Value>[] = []
    let version: PersistentMap<Key, Value> = this
    while (!(version.#at instanceof Cells)) {
      older.push(version)
      version = version.#at
    }
    if (older.length === 0) return version.#at
    let cells = new Cells(version.#at)
    let disordered = false
    for (const step of older.reverse()) {
      const key = step.#key as Key
      if (step.#cell === undefined) cells.delete(key)
      else {
        // A removed key comes back at the end of the `Map`, whatever its position is.
        disordered ||= !cells.has(key)
        cells.set(key, step.#cell)
      }
    }
    if (disordered) cells = new Cells([...cells].sort(([, one], [, other]) => one.place - other.place))
    this.#at = cells
    this.#key = undefined
    this.#cell = undefined
    // The reader of this old version keeps it, and its later versions begin a new chain.
    this.keep()
    return cells
  }
}
