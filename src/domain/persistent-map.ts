/**
 * An immutable map in insertion order whose versions share one `Map`: adding and replacing cost what they change,
 * not what the map holds. The newest version owns the `Map`; an older one keeps the way back and, in the rare case
 * that somebody reads it, copies. Removing copies too, because a JavaScript `Map` cannot give an entry its place back.
 */
export class PersistentMap<Key, Value> {
  #entries: Map<Key, Value> | undefined
  #newer: PersistentMap<Key, Value> | undefined
  /** What each changed key held in this version; applied backwards to the newer version. */
  #undo: readonly (readonly [Key, Value | undefined])[] = []

  private constructor(entries: Map<Key, Value>) {
    this.#entries = entries
  }

  static of<Key, Value>(entries: Iterable<readonly [Key, Value]> = []): PersistentMap<Key, Value> {
    return new PersistentMap(new Map(entries))
  }

  get size(): number {
    return this.#own().size
  }

  get(key: Key): Value | undefined {
    return this.#own().get(key)
  }

  has(key: Key): boolean {
    return this.#own().has(key)
  }

  keys(): IterableIterator<Key> {
    return this.#own().keys()
  }

  values(): IterableIterator<Value> {
    return this.#own().values()
  }

  /** A version with these entries: a known key keeps its place, a new one goes last. `undefined` is no value. */
  with(additions: Iterable<readonly [Key, Value]>): PersistentMap<Key, Value> {
    const entries = this.#own()
    const undo: (readonly [Key, Value | undefined])[] = []
    for (const [key, value] of additions) {
      undo.push([key, entries.get(key)])
      entries.set(key, value)
    }
    const next = new PersistentMap(entries)
    this.#entries = undefined
    this.#newer = next
    this.#undo = undo
    return next
  }

  without(keys: Iterable<Key>): PersistentMap<Key, Value> {
    const entries = new Map(this.#own())
    for (const key of keys) entries.delete(key)
    return new PersistentMap(entries)
  }

  /** The same entries in a map of its own, which later versions of this one do not hold on to. */
  copy(): PersistentMap<Key, Value> {
    return new PersistentMap(new Map(this.#own()))
  }

  #own(): Map<Key, Value> {
    if (this.#entries !== undefined) return this.#entries
    const steps: PersistentMap<Key, Value>[] = []
    let version: PersistentMap<Key, Value> = this
    while (version.#entries === undefined && version.#newer !== undefined) {
      steps.push(version)
      version = version.#newer
    }
    const entries = new Map(version.#entries)
    for (const step of steps.reverse()) {
      for (const [key, value] of step.#undo.toReversed()) {
        if (value === undefined) entries.delete(key)
        else entries.set(key, value)
      }
    }
    this.#entries = entries
    this.#newer = undefined
    this.#undo = []
    return entries
  }
}
