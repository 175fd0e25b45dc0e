// The beginning of the executable, and of each of its threads. It loads the parts of the program, which are CommonJS, from
// the assets of the executable. What calls these functions is appended.
'use strict'
const { posix } = require('node:path')
const { getRawAsset } = require('node:sea')
const vm = require('node:vm')
const { crc32 } = require('node:zlib')

/** Path of a part → its module. */
const modules = new Map()

/** The exports of a part, which is run once. With its code cache, it is not compiled. */
function load(path) {
  const known = modules.get(path)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  modules.set(path, module)
  const text = Buffer.from(getRawAsset(path)).toString()
  const script = new vm.Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: path,
    cachedData: codeCacheOf(path),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const folder = posix.dirname(path)
  script.runInThisContext().call(module.exports, module.exports, requireFrom(folder), module, `/${path}`, `/${folder}`)
  return module.exports
}

/** What a part of this folder gets for a name: another part, a module of Node.js, or a file of a package. */
function requireFrom(folder) {
  return (name) => {
    if (name.startsWith('.')) return load(posix.join(folder, name))
    if (name.startsWith('ajv/')) return load(`node_modules/${name.replace(/(?:\.js)?$/, '.js')}`)
    return require(name)
  }
}

/** Only the executable for the kind of machine that has built it has one. */
function codeCacheOf(path) {
  try {
    return Buffer.from(getRawAsset(`${path}.cache`))
  } catch {
    return undefined
  }
}

/** The name of an asset that is not as it was built. The checksums are to find damage, not intent. */
function findDamage(checksums) {
  for (const [path, expected] of Object.entries(checksums)) {
    try {
      if (crc32(Buffer.from(getRawAsset(path))) !== expected) return path
    } catch {
      return path
    }
  }
  return undefined
}

/** Runs the program, unless something of it is damaged. */
// biome-ignore lint/correctness/noUnusedVariables: What is appended calls it.
async function begin(path, checksums) {
  const damaged = findDamage(checksums)
  if (damaged === undefined) {
    process.exitCode = await load(path).run(process.argv.slice(2))
    return
  }
  process.exitCode = 3
  process.stderr.write(
    `dmarc-understudy: this executable is damaged (${damaged} is not as it was built); get it again, and compare it with SHA256SUMS\n`,
  )
}

globalThis[Symbol.for('dmarc-understudy.load')] = requireFrom('')
