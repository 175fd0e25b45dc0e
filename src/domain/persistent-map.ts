/** A value, and the place of its key in the order of insertion. */
interface Cell<Value> {
  value: Value
  place: number
}

/** What all versions from the oldest that is kept to the newest share. */
class Cells<Key, Value> extends Map<Key, Cell<Value>> {
  /** The last version that somebody keeps for long. Weak, because nobody says when it is no longer needed. */
  kept: WeakRef<PersistentMap<Key, Value>> | undefined = undefined
  /** After how many further changes the kept version gets cells of its own; 0 while none is kept. */
  left = 0
}

/** From how many versions before the newest a key is looked up without a copy. */
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

/** A key, and its value in an older and in a newer version; `undefined` where that version does not have it. */
export type Change<Key, Value> = [key: Key, before: Value | undefined, after: Value | undefined]

/**
 * An immutable map in insertion order. All versions share one `Map`, so that a change costs what it changes, and not what
 * the map contains. The newest version owns the `Map`. An older version keeps what its successor changed, and makes a
 * copy in the rare case that somebody reads more of it than its size and a few keys. Each version changes one key only: the garbage
 * collector keeps chains of versions for long, so each version is as small as possible.
 *
 * A version that is kept for long says so with `keep`. Then it holds at most as many changes as it has entries: after
 * more of them, it gets a copy of its own. Older versions lead to it and share the copy.
 */
export class PersistentMap<Key, Value> {
  /** The cells; or the next version, where this one is not the newest. */
  #at: Cells<Key, Value> | PersistentMap<Key, Value>
  /** Where this version is not the newest: the key that the next version changed, and its cell in this version. */
  #key: Key | undefined
  #cell: Cell<Value> | undefined
  /** The place of the next key that is added. */
  readonly #next: number
  readonly size: number

  private constructor(cells: Cells<Key, Value>, next: number) {
    this.size = cells.size
    this.#at = cells
    this.#key = undefined
    this.#cell = undefined
    this.#next = next
  }

  static of<Key, Value>(entries: Iterable<readonly [Key, Value]> = []): PersistentMap<Key, Value> {
    const cells = new Cells<Key, Value>()
    for (const [key, value] of entries) put(cells, key, value)
    return new PersistentMap(cells, cells.size)
  }

  /** The map of these entries with their places, in the order of place; see `placed`. */
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

  /** The same, with a pause after each few entries. */
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
    return this.#own().keys()
  }

  *values(): IterableIterator<Value> {
    for (const { value } of this.#own().values()) yield value
  }

  *entries(): IterableIterator<[Key, Value]> {
    for (const [key, { value }] of this.#own()) yield [key, value]
  }

  /** Where the key is in the order of insertion. A copy on another machine needs it to keep that order. */
  placeOf(key: Key): number | undefined {
    return this.#own().get(key)?.place
  }

  /** A place after those of all entries. */
  get nextPlace(): number {
    return this.#next
  }

  /** The entries with their places. */
  *placed(): IterableIterator<[key: Key, value: Value, place: number]> {
    for (const [key, { value, place }] of this.#own()) yield [key, value, place]
  }

  /**
   * A version with this entry at its place, as another copy of the map has it: the place that the key has here, or one
   * after those of all other entries.
   */
  put(key: Key, value: Value, place: number): PersistentMap<Key, Value> {
    const known = this.#own().get(key)
    if (known?.place === place) return this.set(key, value)
    const others = known === undefined ? this : this.delete(key)
    const cells = others.#own()
    cells.set(key, { value, place })
    return others.#succeed(cells, key, undefined, Math.max(others.#next, place + 1))
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
    return new PersistentMap(new Cells(this.#own()), this.#next)
  }

  /**
   * The same as work with a pause after each few entries, during which later versions may be made. Unlike any other way
   * to read an old version, it leaves that as it is: it does not keep a copy.
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
      // In a pause, a version on the way may have got cells of its own. Then the others have more changes than those seen.
      if (version.#at === present) return yield* this.#assemble(cells, own)
    }
  }

  /** Gives this version a copy of its own, unless it is the newest. */
  settle(): void {
    this.#own()
  }

  /** Says that this version is kept for long, however often it is changed. Costs O(1) for the newest version. */
  keep(): void {
    let owner: PersistentMap<Key, Value> = this
    let changes = 0
    while (!(owner.#at instanceof Cells)) {
      owner = owner.#at
      changes++
    }
    const cells = owner.#at
    const kept = cells.kept?.deref()
    // A later version that is kept is on the way from this one to the cells.
    if (kept !== undefined && kept !== this && this.#isBefore(kept)) return
    if (changes > this.size) {
      this.#rebuild()
      return
    }
    cells.kept = new WeakRef(this)
    cells.left = Math.max(this.size, 1) - changes + 1
  }

  /**
   * The keys that were changed between `older` and this version, each once, in the order of their first change. Costs as
   * much as there were changes to `older` until today. `undefined` where the versions share nothing: where `older` is no
   * ancestor of this one, or has got a copy of its own.
   */
  changesSince(older: PersistentMap<Key, Value>): Change<Key, Value>[] | undefined {
    // The usual case: one change.
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
    const changes: Change<Key, Value>[] = []
    for (const [key, cell] of before) {
      const present = after.has(key) ? after.get(key) : cells.get(key)
      if (present !== cell) changes.push([key, cell?.value, present?.value])
    }
    return changes
  }

  /** The cells to which this version leads. */
  #find(): Cells<Key, Value> {
    let version: PersistentMap<Key, Value> = this
    while (!(version.#at instanceof Cells)) version = version.#at
    return version.#at
  }

  /** A map of these cells, except that those of the keys in `own` are others, or none. Both parts are in order of place. */
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

  /** The cell of a key. Where few versions are newer, that needs no copy. */
  #lookUp(key: Key): Cell<Value> | undefined {
    let version: PersistentMap<Key, Value> = this
    for (let steps = 0; steps < NEAR; steps++) {
      if (version.#at instanceof Cells) return version.#at.get(key)
      if (version.#key === key) return version.#cell
      version = version.#at
    }
    return this.#own().get(key)
  }

  #own(): Cells<Key, Value> {
    return this.#at instanceof Cells ? this.#at : this.#rebuild()
  }

  /** Gives this version cells of its own. */
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
        // A removed key comes back at the end of the `Map`, whatever its place is.
        disordered ||= !cells.has(key)
        cells.set(key, step.#cell)
      }
    }
    if (disordered) cells = new Cells([...cells].sort(([, one], [, other]) => one.place - other.place))
    this.#at = cells
    this.#key = undefined
    this.#cell = undefined
    // Whoever has this old version keeps it, and its later versions begin a new chain.
    this.keep()
    return cells
  }
}
