// npm run package: makes in artifacts/ what users get, of the program as it is built. With names of platforms, it makes
// only their executables.
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describeMaterials } from './bill-of-materials.mjs'
import { buildImage, makeContext, openStorage, whyNoImage } from './container.mjs'
import { makeExecutables, nameOf } from './executables.mjs'
import { PLATFORMS, run } from './node-binaries.mjs'
import { ARTIFACTS, ROOT } from './places.mjs'

const SUMS = 'SHA256SUMS'
const IMAGES = { amd64: 'linux-x64', arm64: 'linux-arm64' }

const chosen = process.argv.slice(2)
const unknown = chosen.find((platform) => !Object.hasOwn(PLATFORMS, platform))
if (unknown !== undefined) {
  console.error(`${unknown} is no platform; give ${Object.keys(PLATFORMS).join(', ')}`)
  process.exit(2)
}
if (chosen.length === 0) await makeAll()
else await makeExecutables(chosen, ARTIFACTS, tellMade)

/** It takes minutes, so each file is told of. */
function tellMade(path) {
  console.log(`${relative(ROOT, path)}  ${(statSync(path).size / 1e6).toFixed(1)} MB`)
}

async function makeAll() {
  await rm(ARTIFACTS, { recursive: true, force: true })
  await mkdir(ARTIFACTS)
  const { modules, notes } = await makeExecutables(Object.keys(PLATFORMS), ARTIFACTS, tellMade)
  // The program is built already.
  const packed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', ARTIFACTS], { cwd: ROOT })
  tellMade(join(ARTIFACTS, packed.trim()))
  const materials = `${JSON.stringify(await describeMaterials(modules), null, 2)}\n`
  await writeFile(join(ARTIFACTS, 'dmarc-understudy.cdx.json'), materials)
  const obstacle = whyNoImage()
  if (obstacle === undefined) for (const architecture of Object.keys(IMAGES)) await makeImage(architecture)
  else notes.push(`There are no container images: ${obstacle}.`)
  await writeSums()
  for (const note of notes) console.log(note)
}

async function makeImage(architecture) {
  const storage = await openStorage()
  const work = await mkdtemp(join(tmpdir(), 'understudy-context-'))
  try {
    await makeContext(architecture, join(ARTIFACTS, nameOf(IMAGES[architecture])), work)
    buildImage(storage, architecture, work, 'dmarc-understudy')
    const archive = join(ARTIFACTS, `dmarc-understudy-container-${architecture}.tar`)
    storage.buildah('push', '--quiet', 'dmarc-understudy', `oci-archive:${archive}:dmarc-understudy`)
    tellMade(archive)
  } finally {
    await rm(work, { recursive: true })
    await storage.close()
  }
}

async function writeSums() {
  const lines = []
  for (const name of (await readdir(ARTIFACTS)).sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(ARTIFACTS, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  await writeFile(join(ARTIFACTS, SUMS), lines.join(''))
}
