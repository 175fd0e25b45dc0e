// The other mock servers: installs them outside the repository and starts them.
// `node bench/peers.mjs [FOLDER]` installs them only.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { dump, load } from 'js-yaml'
import { API_KEY } from './accounts.mjs'
import { serverCommand } from './candidates.mjs'
import { assembleRequest } from './load.mjs'
import { firstAnswer, freePort, startProgram, stopProgram } from './processes.mjs'

/** Where they are installed unless it is said otherwise. */
export const PEERS_FOLDER = join(tmpdir(), 'dmarc-understudy-peers')

/** `prepare` gives what to start, after it wrote what the peer is to answer; README.md says why it is so. */
const PEERS = [
  { name: 'Prism', package: '@stoplight/prism-cli', version: '5.14.2', basePath: '', prepare: preparePrism },
  { name: 'json-server', package: 'json-server', version: '0.17.4', prepare: prepareJsonServer },
  { name: 'Mockoon', package: '@mockoon/cli', version: '9.9.0', prepare: prepareMockoon },
  { name: 'WireMock', package: 'wiremock', version: '3.13.2', slowToWarm: true, prepare: prepareWireMock },
]

/** Installs those that are not there in their version, with npm. Answers whether that could be done. */
export function installPeers(folder) {
  const missing = PEERS.filter((peer) => installedVersion(folder, peer) !== peer.version)
  if (missing.length === 0) return true
  const packages = missing.map(({ package: name, version }) => `${name}@${version}`)
  console.log(`Installing ${packages.join(', ')} in ${folder}.`)
  try {
    mkdirSync(folder, { recursive: true })
    // Without one, npm would take a folder further up.
    if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  } catch (error) {
    console.error(error.message)
    return false
  }
  const settings = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', '--loglevel', 'error']
  return spawnSync('npm', ['install', ...settings, ...packages], { cwd: folder, stdio: 'inherit' }).status === 0
}

/** Starts them, each on its own; those that cannot run are told with the reason. Without a folder, none takes part. */
export async function startPeers(folder, { folder: scratch, answersPath, workloads }) {
  const [peers, skipped] = [[], []]
  if (folder === undefined) return { peers, skipped }
  for (const peer of PEERS) {
    try {
      if (installedVersion(folder, peer) !== peer.version) throw new Error('it could not be installed')
      peers.push(await startPeer(peer, folder, { scratch, answersPath, workloads }))
    } catch (error) {
      const why = error.message.split('\n')[0]
      console.log(`${peer.name} is left out: ${why}.`)
      skipped.push({ name: peer.name, why })
    }
  }
  return { peers, skipped }
}

async function startPeer({ name, version, basePath = '/api/v1', slowToWarm, prepare }, folder, given) {
  const port = await freePort()
  const { program, args } = prepare({ folder, version, port, ...given })
  // What they print is of no use here, and reading it would cost the core that makes the load.
  const child = startProgram(args, { program, stderr: 'ignore' })
  child.on('error', () => {})
  child.stdout.resume()
  try {
    await firstAnswer(port, assembleRequest('GET', basePath + given.workloads[0].path, API_KEY), child)
  } catch (error) {
    await stopProgram(child)
    throw new Error(child.exitCode === null ? error.message : `it ended with ${child.exitCode} at its start`)
  }
  return { name: `${name} ${version}`, child, port, basePath, slowToWarm, isPeer: true }
}

function installedVersion(folder, { package: name }) {
  const path = join(folder, 'node_modules', name, 'package.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : undefined
}

function readAnswers(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** Our own document, with our answers as its only examples. */
function preparePrism({ folder, port, scratch, answersPath }) {
  const answers = readAnswers(answersPath)
  const document = load(readFileSync(fileURLToPath(new URL('../openapi.yaml', import.meta.url)), 'utf8'))
  const { responses } = document.components
  for (const [response, answer] of [
    ['DomainGroupsListed', answers.group],
    ['DomainGroupCreated', answers.created],
    ['DmarcListed', answers.dmarc],
  ]) {
    const media = responses[response].content['application/json']
    delete media.examples
    media.example = JSON.parse(answer)
  }
  const path = join(scratch, 'prism.yaml')
  writeFileSync(path, dump(document, { noRefs: true }))
  const cli = join(folder, 'node_modules/@stoplight/prism-cli/dist/index.js')
  return { args: [cli, 'mock', '--host', '127.0.0.1', '--port', `${port}`, '--verboseLevel', 'silent', path] }
}

function prepareJsonServer({ folder, port, answersPath }) {
  return { args: serverCommand('json-server', folder, answersPath, port) }
}

/** An environment with one route and one fixed body for each request. */
function prepareMockoon({ folder, port, scratch, answersPath, workloads }) {
  const answers = readAnswers(answersPath)
  const routes = workloads.map(({ key, method, path }, index) => ({
    uuid: `00000000-0000-4000-8000-00000000000${index}`,
    type: 'http',
    documentation: '',
    method: method.toLowerCase(),
    endpoint: `api/v1${path.split('?')[0]}`,
    responses: [mockoonResponse(answers[key], index)],
    responseMode: null,
    streamingMode: null,
    streamingInterval: 0,
  }))
  const environment = {
    uuid: '00000000-0000-4000-8000-0000000000ff',
    lastMigration: 33,
    name: 'bench',
    port,
    hostname: '127.0.0.1',
    routes,
    rootChildren: routes.map(({ uuid }) => ({ type: 'route', uuid })),
    cors: false,
    headers: [{ key: 'Content-Type', value: 'application/json' }],
  }
  const path = join(scratch, 'mockoon.json')
  writeFileSync(path, JSON.stringify(environment))
  const cli = join(folder, 'node_modules/@mockoon/cli/bin/run.js')
  return { args: [cli, 'start', '--repair', '--disable-log-to-file', '--disable-admin-api', '--data', path] }
}

function mockoonResponse(body, index) {
  return {
    uuid: `00000000-0000-4000-8000-00000000001${index}`,
    body,
    latency: 0,
    statusCode: 200,
    label: '',
    headers: [],
    bodyType: 'INLINE',
    filePath: '',
    databucketID: '',
    sendFileAsBody: false,
    rules: [],
    rulesOperator: 'OR',
    disableTemplating: true,
    fallbackTo404: false,
    default: true,
    crudKey: 'id',
    callbacks: [],
  }
}

/** A stub with a fixed body for each request. It remembers as many requests as we do. */
function prepareWireMock({ folder, version, port, scratch, answersPath, workloads }) {
  if (spawnSync('java', ['-version']).status !== 0) throw new Error('there is no Java on this machine')
  const answers = readAnswers(answersPath)
  const root = join(scratch, 'wiremock')
  mkdirSync(join(root, 'mappings'), { recursive: true })
  for (const { key, method, path } of workloads) {
    const response = { status: 200, headers: { 'Content-Type': 'application/json' }, body: answers[key] }
    const mapping = { request: { method, url: `/api/v1${path}` }, response }
    writeFileSync(join(root, 'mappings', `${key}.json`), JSON.stringify(mapping))
  }
  const jar = join(folder, `node_modules/wiremock/build/wiremock-standalone-${version}.jar`)
  const address = ['--bind-address', '127.0.0.1', '--port', `${port}`, '--root-dir', root]
  const settings = [
    '--use-chunked-encoding',
    'never',
    '--disable-banner',
    '--disable-request-logging',
    '--disable-gzip',
  ]
  return { program: 'java', args: ['-jar', jar, ...address, ...settings, '--max-request-journal-entries', '1000'] }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href && !installPeers(process.argv[2] ?? PEERS_FOLDER)) {
  process.exitCode = 1
}
