import type * as promises from 'node:fs/promises'
import { basename } from 'node:path'

type Files = typeof promises
export type Deed = 'open' | 'write' | 'flush' | 'rename' | 'remove' | 'look'

/** What a test asks of `node:fs/promises`: to fail with a code, and to say what was done, in order. */
export interface ObservedDisk {
  readonly deeds: string[]
  readonly failing: Map<Deed, string>
}

/** `node:fs/promises` as far as it is used here, under observation; for `vi.mock`. */
export function observe(files: Files, { deeds, failing }: ObservedDisk): Partial<Files> {
  async function act<Result>(deed: Deed, path: unknown, act: () => Promise<Result>): Promise<Result> {
    const code = failing.get(deed)
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${deed} ${basename(String(path))}`), { code })
    const result = await act()
    // Only what has ended has been done.
    if (deed !== 'look' && deed !== 'open') deeds.push(`${deed} ${basename(String(path))}`)
    return result
  }
  return {
    ...files,
    stat: ((path: string) => act('look', path, () => files.stat(path))) as Files['stat'],
    rename: (from, to) => act('rename', to, () => files.rename(from, to)),
    rm: (path, options) => act('remove', path, () => files.rm(path, options)),
    open: (path, flags) =>
      act('open', path, async () => {
        const handle = await files.open(path, flags)
        const { writeFile, sync } = handle
        handle.writeFile = (...args) => act('write', path, () => writeFile.apply(handle, args))
        handle.sync = () => act('flush', path, () => sync.call(handle))
        return handle
      }),
  }
}
