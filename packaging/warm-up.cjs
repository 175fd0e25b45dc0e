// Runs the program from a folder as an executable does, asks for what a user asks for first, and stores what was compiled.
'use strict'
const { existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout } = require('node:timers/promises')
const vm = require('node:vm')

const [folder] = process.argv.slice(2)
const ready = join(folder, 'ready.json')
/** Part → its script. */
const scripts = new Map()

class RememberedScript extends vm.Script {
  constructor(text, options) {
    super(text, options)
    scripts.set(options.filename, this)
  }
}

const stubs = {
  'node:sea': {
    isSea: () => true,
    getRawAsset(path) {
      const { buffer, byteOffset, byteLength } = readFileSync(join(folder, path))
      return buffer.slice(byteOffset, byteOffset + byteLength)
    },
  },
  'node:vm': { ...vm, Script: RememberedScript },
}
const first = `(function (require) {${readFileSync(join(folder, 'first-script.cjs'), 'utf8')}\nreturn load })`
const load = vm.runInThisContext(first)((name) => stubs[name] ?? require(name))

/** Commands that are loaded, so that their parts are compiled. */
const COMMANDS = [
  'serve',
  'run',
  'vary',
  'explore',
  'verify',
  'check',
  'proxy',
  'calibrate',
  'fixture',
  'assumptions',
  'mcp',
]
const REQUESTS = [
  ['GET', '/api/v1/domains'],
  ['POST', '/api/v1/domains', { domains: ['one.example', 'two.example'] }],
  ['GET', '/api/v1/dmarc'],
  ['POST', '/api/v1/domaingroups', { name: 'Some', domains: ['one.example'] }],
  ['GET', '/api/v1/domaingroups'],
  ['DELETE', '/api/v1/domains', { domains: ['two.example'] }],
  ['POST', '/api/v1/domains', { domains: [1] }],
  ['GET', '/__admin/accounts'],
  ['GET', '/__admin/'],
]

async function warmUp() {
  const write = process.stdout.write
  process.stdout.write = () => true
  const { run } = load('dist/program.js')
  for (const name of COMMANDS) await run([name, '--help'])
  void run(['serve', '--port', '0', '--log-level', 'silent', '--ready-file', ready])
  await ask(await untilReady())
  process.stdout.write = write
  for (const [path, script] of scripts) writeFileSync(join(folder, `${path}.cache`), script.createCachedData())
}

async function untilReady() {
  for (;;) {
    if (existsSync(ready)) return JSON.parse(readFileSync(ready, 'utf8'))
    await setTimeout(20)
  }
}

async function ask({ base_url: url, api_key: key }) {
  for (const [method, path, body] of REQUESTS) {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(new URL(path, url), { method, headers, body: JSON.stringify(body) })
    await response.text()
  }
}

warmUp().then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
process.on('exit', () => rmSync(ready, { force: true }))
