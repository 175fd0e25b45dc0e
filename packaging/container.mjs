// Makes a container image of an executable: its context with the libraries from Debian packages, and the image with
// buildah, which needs no daemon and no right to make namespaces.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readlink, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './node-binaries.mjs'
import { CACHE, ROOT } from './places.mjs'

/** The packages with the libraries that Node.js needs. */
const PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1']
const LIBRARIES = /^(?:ld-linux-[\w-]+|lib(?:atomic|c|dl|gcc_s|m|pthread|stdc\+\+))\.so\.\d+$/
/** By the name of the architecture in a container: where its libraries are, and what starts a program. */
const ARCHITECTURES = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
}

/** What is missing on this machine for an image; `undefined` if nothing is. */
export function whyNoImage() {
  const missing = ['buildah', 'apt-get', 'dpkg-deb'].filter((tool) => spawnSync(tool, ['--version']).error)
  return missing.length === 0 ? undefined : `${missing.join(' and ')} is not installed`
}

/** Makes the folder that `Containerfile` takes everything from. */
export async function makeContext(architecture, executable, folder) {
  const { triplet, loader } = ARCHITECTURES[architecture]
  const root = join(folder, 'root')
  const libraries = join(root, 'lib', triplet)
  await mkdir(libraries, { recursive: true })
  await mkdir(join(folder, 'data'), { mode: 0o700 })
  const unpacked = await fetchLibraries(architecture)
  for (const path of await filesIn(unpacked)) {
    const name = path.split('/').at(-1)
    if (LIBRARIES.test(name) && !path.includes('/gconv/')) await copyFile(path, join(libraries, name))
    const [, of] = /share\/doc\/([^/]+)\/copyright$/.exec(path) ?? []
    if (of !== undefined) await cp(path, join(root, 'usr/share/doc', of, 'copyright'))
  }
  await mkdir(join(root, loader, '..'), { recursive: true })
  await copyFile(join(libraries, loader.split('/').at(-1)), join(root, loader))
  await chmod(join(root, loader), 0o755)
  await copyFile(executable, join(root, 'dmarc-understudy'))
}

/**
 * The folder with the unpacked packages, which are fetched once. Debian has the libraries of other architectures in
 * packages of their own, for those who compile for them.
 */
async function fetchLibraries(architecture) {
  const folder = join(CACHE, `libraries-${architecture}`)
  if (existsSync(folder)) return folder
  const isOwn = run('dpkg', ['--print-architecture']).trim() === architecture
  const unpacked = `${folder}.${process.pid}`
  await mkdir(unpacked, { recursive: true })
  await unpackPackages(
    PACKAGES.map((name) => (isOwn ? name : `${name}-${architecture}-cross`)),
    unpacked,
  )
  // Those of the compiler share their licence, which is in a package of its own.
  const documents = join(unpacked, 'usr/share/doc')
  const links = (await readdir(documents, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink())
  const shared = await Promise.all(links.map(({ name }) => readlink(join(documents, name))))
  await unpackPackages([...new Set(shared)], unpacked)
  await rename(unpacked, folder).catch(() => rm(unpacked, { recursive: true }))
  return folder
}

async function unpackPackages(names, folder) {
  run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', ...names], { cwd: folder })
  for (const file of (await readdir(folder)).filter((each) => each.endsWith('.deb'))) {
    run('dpkg-deb', ['-x', join(folder, file), folder])
    await rm(join(folder, file))
  }
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

/** A place for images that other programs do not see, and how to call buildah with it. */
export async function openStorage() {
  const folder = await mkdtemp(join(tmpdir(), 'understudy-images-'))
  const places = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
  return {
    places,
    buildah: (...args) => run('buildah', [...places, ...args]),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Builds the image of a context in a storage. */
export function buildImage({ buildah }, architecture, context, name) {
  const file = join(ROOT, 'packaging/Containerfile')
  const how = ['--isolation', 'chroot', '--platform', `linux/${architecture}`, '--timestamp', '0']
  buildah('bud', '--quiet', ...how, '--tag', name, '--file', file, context)
}
