// Makes executables: Node.js with the program inside. All of them can be made on one machine, but only the one for this
// machine gets a code cache, because V8 takes none that another kind of machine has made.
import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { signAdHoc } from './ad-hoc-signature.mjs'
import { fetchNode, nodeIn, ownPlatform, run } from './node-binaries.mjs'
import { CACHE } from './places.mjs'
import { writeBeginning, writeCodeCache, writeProgramFiles } from './program-files.mjs'

/** How the executable of a platform is called. */
export function nameOf(platform) {
  return `dmarc-understudy-${platform}${platform.startsWith('windows') ? '.exe' : ''}`
}

/**
 * Makes the executables of these platforms in a folder, and tells of each one when it is there. Returns the modules of which
 * the program is, and what is to know of the executables.
 */
export async function makeExecutables(platforms, target, tellMade = () => {}) {
  await mkdir(target, { recursive: true })
  const work = join(CACHE, `work-${process.pid}`)
  const folder = join(work, 'program')
  try {
    const { files, modules } = await writeProgramFiles(folder)
    const notes = []
    const isOwn = (platform) => platform === ownPlatform()
    // The own one comes last: the others must not get its cache.
    for (const platform of platforms.toSorted((one, other) => isOwn(one) - isOwn(other))) {
      const inside = isOwn(platform) ? await writeCodeCache(folder) : files
      const made = join(target, nameOf(platform))
      notes.push(...(await makeExecutable(platform, { work, folder, files: inside }, made)))
      tellMade(made)
    }
    return { modules, notes }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function makeExecutable(platform, { work, folder, files }, target) {
  const main = join(work, 'main.cjs')
  await writeBeginning(folder, files, main)
  const binary = join(work, 'node')
  await copyFile(nodeIn(await fetchNode(platform), platform), binary)
  const isLarge = platform.startsWith('linux') && !strip(binary)
  const made = join(work, 'made')
  const configuration = join(work, 'configuration.json')
  const assets = Object.fromEntries(files.map((file) => [file, join(folder, file)]))
  await writeFile(
    configuration,
    JSON.stringify({ main, output: made, executable: binary, disableExperimentalSEAWarning: true, assets }),
  )
  run(nodeIn(await fetchNode(ownPlatform())), ['--build-sea', configuration], { cwd: dirname(configuration) })
  if (platform.startsWith('macos')) await signAdHoc(made, 'dmarc-understudy')
  await chmod(made, 0o755)
  await rename(made, target)
  return isLarge ? [`${nameOf(platform)} has the symbols of Node.js: no tool here can remove them.`] : []
}

/** Removes the symbols of Node.js, a fifth of it, with the first tool that can. Nobody needs them to run it. */
function strip(binary) {
  const tools = ['strip', 'llvm-strip', 'aarch64-linux-gnu-strip', 'x86_64-linux-gnu-strip']
  return tools.some((tool) => spawnSync(tool, [binary]).status === 0)
}
