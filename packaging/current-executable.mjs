// Makes the executable for this machine, unless it is that of these sources already, and prints its path. Whoever asks at
// the same time waits for the same one. The build of the package must have run.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { makeExecutables, nameOf } from './executables.mjs'
import { ownPlatform } from './node-binaries.mjs'
import { CACHE, ROOT } from './places.mjs'

const FOLDER = join(CACHE, 'current')
const MARK = join(FOLDER, 'made-of')
const LOCK = join(FOLDER, 'lock')

/** What the executable is made of: the build names what it was made of itself. */
async function fingerprint() {
  const folders = ['packaging', 'fixtures', 'faults', 'src/redis/library', 'docs']
  const listed = await Promise.all(folders.map(listFiles))
  const hash = createHash('sha256')
  for (const file of ['dist/prepared/made-of', 'dist/dashboard.html', 'package.json', ...listed.flat()]) {
    hash.update(file).update(await readFile(join(ROOT, file)))
  }
  return hash.digest('hex')
}

async function listFiles(folder) {
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [join(folder, entry.name)] : [])).sort()
}

/** Does the work while no other process does any. The lock of a process that has ended counts for nothing. */
async function alone(work) {
  for (;;) {
    try {
      await writeFile(LOCK, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (!isRunning(Number(await readFile(LOCK, 'utf8').catch(() => '')))) await rm(LOCK, { force: true })
      await setTimeout(100)
    }
  }
  try {
    await work()
  } finally {
    await rm(LOCK, { force: true })
  }
}

function isRunning(pid) {
  try {
    // A lock that is just being written has no number yet.
    return pid === 0 || process.kill(pid, 0)
  } catch {
    return false
  }
}

await mkdir(FOLDER, { recursive: true })
await alone(async () => {
  const expected = await fingerprint()
  if ((await readFile(MARK, 'utf8').catch(() => '')) === expected) return
  await rm(MARK, { force: true })
  await makeExecutables([ownPlatform()], FOLDER)
  await writeFile(MARK, expected)
})
console.log(join(FOLDER, nameOf(ownPlatform())))
