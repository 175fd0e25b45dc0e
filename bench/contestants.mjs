// Who is measured: this program, what Node.js and Express cost at the least, and other mock servers.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dump, load } from 'js-yaml'
import { assembleRequest } from './load.mjs'
import { firstAnswer, freePort, portOf, startProgram, stopProgram } from './processes.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
export const PROGRAM = join(HERE, '../dist/cli.js')
export const [OURS, EXPRESS, HTTP] = ['dmarc-understudy', 'Express', 'node:http']
export const API_KEY = `key_benchkey.${'0'.repeat(48)}`

/** The service as it is shipped; requests are counted, but none is refused, and nothing is logged. */
export function serveCommand(fixture, port = 0) {
  const settings = ['--log-level', 'silent', '--no-quotas', '--api-key', API_KEY, '--fixture', fixture]
  return [PROGRAM, 'serve', '--port', `${port}`, ...settings]
}

/** A server of this folder. */
export function serverCommand(name, ...args) {
  return [join(HERE, 'servers', `${name}.mjs`), ...args.map(String)]
}

/** Starts a command and waits until it says where it listens. */
export async function startContestant(name, command) {
  const child = startProgram(command)
  return { name, child, port: await portOf(child), basePath: '/api/v1' }
}

/** A request to the service. */
export function serviceRequest(method, path, body) {
  return assembleRequest(method, `/api/v1${path}`, API_KEY, body)
}

export function domainName(index) {
  return `domain-${String(index).padStart(5, '0')}.example`
}

/** Writes a fixture of so many domains, and groups of three of them. */
export function writeFixture(path, { domains, groups = 0 }) {
  const names = Array.from({ length: domains }, (_, index) => domainName(index))
  const grouped = Array.from({ length: groups }, (_, index) => ({
    name: `Group ${index}`,
    domains: [0, 1, 2].map((offset) => domainName((index + offset) % domains)),
  }))
  writeFileSync(path, JSON.stringify({ domains: names, groups: grouped }))
  return path
}

const PEERS_FOLDER = join(tmpdir(), 'dmarc-understudy-peers')
const PEERS = [
  { name: 'Prism', package: '@stoplight/prism-cli', version: '5.14.2', basePath: '', commandOf: prismCommand },
  { name: 'json-server', package: 'json-server', version: '0.17.4', basePath: '/api/v1', commandOf: jsonServerCommand },
]

/**
 * Installs two other mock servers outside of the repository, and starts them, each in its fastest usual configuration.
 * One that cannot run is left out, with a line that says so.
 *
 * @param answersPath A JSON file with the bodies that they are to answer: `group`, `groups`, `dmarc`, `created`.
 */
export async function startPeers(folder, answersPath) {
  mkdirSync(PEERS_FOLDER, { recursive: true })
  const manifest = join(PEERS_FOLDER, 'package.json')
  // Without one, npm would take a folder further up.
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private": true}\n')
  const packages = PEERS.map(({ package: name, version }) => `${name}@${version}`)
  const settings = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', '--loglevel', 'error']
  spawnSync('npm', ['install', ...settings, ...packages], { cwd: PEERS_FOLDER, stdio: 'inherit' })
  const peers = []
  for (const { name, version, basePath, commandOf } of PEERS) {
    const port = await freePort()
    const child = startProgram(commandOf(port, answersPath, folder), { stderr: 'ignore' })
    child.stdout.resume()
    try {
      await firstAnswer(port, assembleRequest('GET', `${basePath}/dmarc`, API_KEY), child)
      peers.push({ name: `${name} ${version}`, child, port, basePath, isPeer: true })
    } catch (error) {
      await stopProgram(child)
      console.log(`${name} is left out: ${error.message.split('\n')[0]}`)
    }
  }
  return peers
}

/** Our own document, with our answers as its only examples. It validates requests, as we do, and keeps no state. */
function prismCommand(port, answersPath, folder) {
  const answers = JSON.parse(readFileSync(answersPath, 'utf8'))
  const document = load(readFileSync(join(HERE, '../openapi.yaml'), 'utf8'))
  const examples = { DomainGroupsListed: 'group', DomainGroupCreated: 'created', DmarcListed: 'dmarc' }
  for (const [response, key] of Object.entries(examples)) {
    const media = document.components.responses[response].content['application/json']
    delete media.examples
    media.example = JSON.parse(answers[key])
  }
  const path = join(folder, 'prism.yaml')
  writeFileSync(path, dump(document, { noRefs: true }))
  const cli = join(PEERS_FOLDER, 'node_modules/@stoplight/prism-cli/dist/index.js')
  return [cli, 'mock', '--host', '127.0.0.1', '--port', `${port}`, '--verboseLevel', 'silent', path]
}

/** The same groups and records from memory; POST adds a group. */
function jsonServerCommand(port, answersPath) {
  return serverCommand('json-server', PEERS_FOLDER, answersPath, port)
}
