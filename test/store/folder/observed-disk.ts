import type * as fs from 'node:fs'
import type * as promises from 'node:fs/promises'
import { basename } from 'node:path'

export type Deed = 'open' | 'write' | 'flush' | 'rename' | 'remove' | 'look'

/** What a test asks of the file system: to fail with a code, and to say what was done, in order. */
export interface ObservedDisk {
  readonly deeds: string[]
  readonly failing: Map<Deed, string>
}

type Done = (error: NodeJS.ErrnoException | null, result?: unknown) => void

/** `node:fs` as far as files are written with it, under observation; for `vi.mock`. */
export function observeFiles(files: typeof fs, disk: ObservedDisk): Partial<typeof fs> {
  const paths = new Map<number, string>()
  /** The function of that name, which does the deed to its first argument. */
  function observed(name: 'writeFile' | 'fsync' | 'rename', deed: Deed, path: (args: unknown[]) => unknown): unknown {
    return (...args: unknown[]) => {
      const done = args.pop() as Done
      const error = failureOf(deed, path(args), disk)
      if (error !== undefined) return done(error)
      const act = files[name] as (...args: unknown[]) => void
      act(...args, (failure: NodeJS.ErrnoException | null, result: unknown) => {
        // Only what has ended has been done.
        if (failure === null) disk.deeds.push(`${deed} ${basename(String(path(args)))}`)
        done(failure, result)
      })
    }
  }
  return {
    ...files,
    open: ((path: string, flags: string, ...rest: [mode: number, done: Done] | [done: Done]) => {
      const done = rest.at(-1) as Done
      const mode = rest.length === 2 ? rest[0] : undefined
      const error = failureOf('open', path, disk)
      if (error !== undefined) return done(error)
      files.open(path, flags, mode, (failure, file) => {
        if (failure === null) paths.set(file, path)
        done(failure, file)
      })
    }) as unknown as typeof fs.open,
    writeFile: observed('writeFile', 'write', ([file]) => paths.get(file as number)) as typeof fs.writeFile,
    fsync: observed('fsync', 'flush', ([file]) => paths.get(file as number)) as typeof fs.fsync,
    rename: observed('rename', 'rename', ([, to]) => to) as typeof fs.rename,
  }
}

/** `node:fs/promises` as far as it is used beside that, under observation; for `vi.mock`. */
export function observePromises(files: typeof promises, disk: ObservedDisk): Partial<typeof promises> {
  async function act<Result>(deed: Deed, path: unknown, act: () => Promise<Result>): Promise<Result> {
    const error = failureOf(deed, path, disk)
    if (error !== undefined) throw error
    const result = await act()
    if (deed !== 'look') disk.deeds.push(`${deed} ${basename(String(path))}`)
    return result
  }
  return {
    ...files,
    stat: ((path: string) => act('look', path, () => files.stat(path))) as typeof promises.stat,
    rm: (path, options) => act('remove', path, () => files.rm(path, options)),
  }
}

function failureOf(deed: Deed, path: unknown, { failing }: ObservedDisk): NodeJS.ErrnoException | undefined {
  const code = failing.get(deed)
  if (code === undefined) return undefined
  return Object.assign(new Error(`${code}: ${deed} ${basename(String(path))}`), { code })
}
