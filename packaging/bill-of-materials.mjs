// The list of everything that users get with the program, as CycloneDX. `npm sbom` cannot make it: it knows neither what
// is bundled nor Node.js, and refuses workspaces without a version.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'rolldown'
import { packageOf } from '../bundle-licences.mjs'
import { fetchNode, NODE_VERSION, nodeIn, ownPlatform, PLATFORMS, run } from './node-binaries.mjs'
import { ROOT } from './places.mjs'

/** The document: the packages of a user's installation, those in the executables, those in the page, and Node.js. */
export async function describeMaterials(programModules) {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const { name, version, description } = packages['']
  const bundled = new Set([...programModules, ...(await listPageModules())].flatMap((id) => placeIn(id) ?? []))
  const isGiven = ([place, { dev, link, optional }]) =>
    place.startsWith('node_modules/') && !link && (bundled.has(place) || !(dev || optional))
  const given = Object.entries(packages).filter(isGiven)
  const own = { type: 'application', 'bom-ref': `${name}@${version}`, name, version, description, ...licence('MIT') }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { timestamp: commitTime(), component: { ...own, purl: `pkg:npm/${name}@${version}` } },
    components: [...given.map(describePackage), await describeNode()],
  }
}

/** Where npm has installed the package that a module is of, as the lock names it. */
function placeIn(module) {
  const name = packageOf(module)
  if (name === undefined) return undefined
  const path = module.replaceAll('\\', '/')
  return path.slice(path.indexOf('node_modules/'), path.lastIndexOf(`/${name}/`) + name.length + 1)
}

async function listPageModules() {
  const page = { input: join(ROOT, 'src/dashboard/main.tsx'), tsconfig: join(ROOT, 'src/dashboard/tsconfig.json') }
  const { output } = await build({ ...page, platform: 'browser', write: false })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}

function describePackage([place, { version, license, integrity }]) {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const [algorithm, digest = ''] = integrity?.split(/-(.*)/) ?? []
  return {
    type: 'library',
    'bom-ref': `${place}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...licence(license),
    ...(digest && {
      hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
  }
}

/** Node.js, with the libraries that it contains, and the packages that it was taken from. */
async function describeNode() {
  const program = nodeIn(await fetchNode(ownPlatform()))
  const { node: _, modules: __, ...versions } = JSON.parse(run(program, ['-p', 'JSON.stringify(process.versions)']))
  const part = ([name, version]) => ({ type: 'library', 'bom-ref': `node/${name}@${version}`, name, version })
  return {
    type: 'platform',
    'bom-ref': `node@${NODE_VERSION}`,
    name: 'node',
    version: NODE_VERSION,
    purl: `pkg:generic/node@${NODE_VERSION}`,
    ...licence('MIT'),
    properties: Object.entries(PLATFORMS).map(([platform, { package: name }]) => ({
      name: `dmarc-understudy:${platform}`,
      value: `pkg:npm/${name}@${NODE_VERSION}`,
    })),
    components: Object.entries(versions).map(part),
  }
}

function licence(expression) {
  return expression === undefined ? {} : { licenses: [{ expression }] }
}

/** The time of the commit, so that the same commit has the same list. */
function commitTime() {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%cI'], { cwd: ROOT, encoding: 'utf8' })
  return status === 0 && stdout !== '' ? new Date(stdout.trim()).toISOString() : undefined
}
