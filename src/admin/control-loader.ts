import type { Control } from './control.ts'
import type { ControlDeps } from './handler.ts'

/** A function that loads the control plane on its first call. The start of the server does not wait for it. */
export function createControlLoader(deps: ControlDeps): () => Promise<Control> {
  let control: Promise<Control> | undefined
  async function load(): Promise<Control> {
    const [{ Control }, { loadControlApi }] = await Promise.all([
      import('./control.ts'),
      import('../contract/control-api.ts'),
    ])
    return new Control(await loadControlApi(), deps)
  }
  return () => {
    control ??= load().catch((error) => {
      // The cause, such as too many open files, may be temporary.
      control = undefined
      throw error
    })
    return control
  }
}
