import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, runShell } from './program-process.ts'

/** What `npm pack` makes of the built program. */
interface Packed {
  /** Of the archive, in bytes. */
  size: number
  files: { path: string }[]
}

let packed: Promise<Packed> | undefined

/** Reads what `npm pack --json` prints: a list before npm 12, and since then an object with the names of the packages. */
function readPacked(printed: string): Packed {
  const [contents] = Object.values(JSON.parse(printed) as Packed[] | Record<string, Packed>)
  if (contents === undefined) throw new Error(`npm has packed nothing: ${printed}`)
  return contents
}

/** Packs without writing, once for all tests of a worker. What prepack builds is there: the tests have built it. */
export function pack(): Promise<Packed> {
  packed ??= listPacked()
  return packed
}

async function listPacked(): Promise<Packed> {
  const { stdout, stderr } = await runShell('npm pack --dry-run --json --ignore-scripts')
  if (stdout === '') throw new Error(stderr)
  return readPacked(stdout)
}

/** Makes a project with the packed files, and no others, among its packages. Its modules are of this kind. */
export async function installPacked(folder: string, type: 'module' | 'commonjs' = 'module'): Promise<void> {
  const packages = join(folder, 'node_modules')
  for (const { path } of (await pack()).files) {
    const target = join(packages, 'dmarc-understudy', path)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(ROOT, path), target)
  }
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  }
  mkdirSync(join(packages, '.bin'))
  symlinkSync('../dmarc-understudy/dist/cli.js', join(packages, '.bin', 'dmarc-understudy'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'client', version: '1.0.0', type }))
}
