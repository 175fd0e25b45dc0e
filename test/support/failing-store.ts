import { Accounts } from '../../src/store/accounts.ts'
import type { Store } from '../../src/store/store.ts'
import { START } from './service.ts'

/** A memory store in which some methods are others, or are added. Its clock stands where that of a test begins. */
export function overMemory(replace: (memory: Store) => Partial<Store>): Store {
  const memory = new Accounts({ clock: () => START })
  const replaced = replace(memory)
  return new Proxy(replaced as Store, {
    get: (own, name) => {
      const method = Reflect.get(name in own ? own : memory, name)
      return name in own || typeof method !== 'function' ? method : method.bind(memory)
    },
  })
}

export const LOST = new Error('the disk is gone')

/** A store in which one method can be made to fail. */
export function failingStore(method: 'update' | 'enter') {
  let failing = false
  const store = overMemory((memory) => ({
    [method]: (...given: unknown[]) => (failing ? Promise.reject(LOST) : Reflect.apply(memory[method], memory, given)),
  }))
  return {
    store,
    fail() {
      failing = true
    },
    recover() {
      failing = false
    },
  }
}
