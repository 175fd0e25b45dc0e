import type { Settings } from '../domain/settings.ts'

interface SettingNode<Value> {
  /** The setting that is read next; absent if the node has a value. */
  name?: string
  branches: Map<unknown, SettingNode<Value>>
  value?: Value
}

/**
 * Results of a computation, by the values of the settings that it read. Which setting it reads next depends only on
 * those that it read before. So the same values of these settings lead to the same result.
 */
export class SettingTree<Value extends object> {
  readonly #root: SettingNode<Value> = { branches: new Map() }

  find(settings: Settings): Value | undefined {
    let node: SettingNode<Value> | undefined = this.#root
    while (node?.name !== undefined) node = node.branches.get(settings[node.name as keyof Settings])
    return node?.value
  }

  /** `reads` has the settings in the order in which they were first read. */
  add(settings: Settings, reads: ReadonlySet<string>, value: Value): void {
    let node = this.#root
    for (const name of reads) {
      // If the computation reads another setting this time, it depends on more than settings.
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
