// Who is measured, as commands of `node`.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API_KEY } from './accounts.mjs'
import { assembleRequest } from './load.mjs'
import { portOf, startProgram } from './processes.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
export const PROGRAM = join(HERE, '../dist/cli.js')

export const [OURS, OURS_WITHOUT_JOURNAL, EXPRESS, HTTP] = [
  'dmarc-understudy',
  'dmarc-understudy --journal 0',
  'Express',
  'node:http',
]

/** The service as it is shipped; requests are counted, but none is refused, and nothing is logged. */
export function serveCommand(fixture, { port = 0, options = [], flags = [], program = PROGRAM } = {}) {
  const settings = ['--log-level', 'silent', '--no-quotas', '--api-key', API_KEY, '--fixture', fixture]
  return [...flags, program, 'serve', '--port', `${port}`, ...settings, ...options]
}

/** A server of this folder. */
export function serverCommand(name, ...args) {
  return [join(HERE, 'servers', `${name}.mjs`), ...args.map(String)]
}

/** Starts a command and waits until it says where it listens. */
export async function startCandidate(name, command) {
  const child = startProgram(command)
  return { name, child, port: await portOf(child), basePath: '/api/v1' }
}

/** A request to the service, ready to be sent. */
export function serviceRequest(method, path, body, apiKey = API_KEY) {
  return assembleRequest(method, `/api/v1${path}`, apiKey, body === undefined ? undefined : JSON.stringify(body))
}

/** A request to its control plane. */
export function controlRequest(method, path, body) {
  return assembleRequest(method, `/__admin${path}`, API_KEY, body === undefined ? undefined : JSON.stringify(body))
}
