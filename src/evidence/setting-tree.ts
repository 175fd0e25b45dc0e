import type { Settings } from '../domain/settings.ts'

interface Node<Value> {
  /** The setting that is read next; absent where a value was found. */
  name?: string
  branches: Map<unknown, Node<Value>>
  value?: Value
}

/**
 * Results of a computation that reads settings, by the values of those that it has read. Which setting it reads next
 * depends only on those that it read before, so whoever has the same values comes to the same result.
 */
export class SettingTree<Value extends object> {
  readonly #root: Node<Value> = { branches: new Map() }

  find(settings: Settings): Value | undefined {
    let node: Node<Value> | undefined = this.#root
    while (node?.name !== undefined) node = node.branches.get(settings[node.name as keyof Settings])
    return node?.value
  }

  /** `reads` are in the order in which they were first read. */
  add(settings: Settings, reads: ReadonlySet<string>, value: Value): void {
    let node = this.#root
    for (const name of reads) {
      // A computation that reads something else this time depends on more than settings.
      if (node.value !== undefined || (node.name ?? name) !== name) return
      node.name = name
      const branch = settings[name as keyof Settings]
      const next = node.branches.get(branch) ?? { branches: new Map() }
      node.branches.set(branch, next)
      node = next
    }
    if (node.name === undefined) node.value = value
  }
}
