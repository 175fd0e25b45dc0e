import type * as promises from 'node:fs/promises'
import { basename } from 'node:path'

export type Deed = 'write' | 'flush' | 'rename' | 'remove'

/** What a test asks of the file system: to fail with a code, and to say what was done, in order. */
export interface ObservedDisk {
  readonly deeds: string[]
  readonly failing: Map<Deed, string>
}

/** `node:fs/promises` as far as files are written with it, under observation; for `vi.mock`. */
export function observePromises(files: typeof promises, disk: ObservedDisk): Partial<typeof promises> {
  async function act<Result>(deed: Deed, path: unknown, act: () => Promise<Result>): Promise<Result> {
    const code = disk.failing.get(deed)
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${deed} ${basename(String(path))}`), { code })
    const result = await act()
    // Only what has ended has been done.
    disk.deeds.push(`${deed} ${basename(String(path))}`)
    return result
  }
  return {
    ...files,
    writeFile: ((path: string, text: string, options: { flush?: boolean }) =>
      act('write', path, async () => {
        await files.writeFile(path, text, options)
        if (options.flush) disk.deeds.push(`flush ${basename(path)}`)
      })) as typeof promises.writeFile,
    rename: (from, to) => act('rename', to, () => files.rename(from, to)),
    // What is removed before and after a write need not be there.
    rm: (path, options) =>
      String(path).endsWith('.tmp') ? files.rm(path, options) : act('remove', path, () => files.rm(path, options)),
    open: (async (path: string, flags: string) => {
      const file = await files.open(path, flags)
      const sync = file.sync.bind(file)
      file.sync = () => act('flush', path, sync)
      return file
    }) as typeof promises.open,
  }
}
