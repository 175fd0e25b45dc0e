import type { Contract } from '../contract/contract.ts'
import type { AccountOrigin, AccountState } from '../domain/account.ts'
import type { Fixture, Scene, SceneCall, Story } from '../domain/fixture.ts'
import { isObject } from '../ground/json.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { show } from '../ground/show.ts'
import { runAtOnce } from '../ground/work.ts'
import { errorIn, type LoadedFixture, loadFixture } from './fixture.ts'

/** How many bytes the scenes of a fixture may have as JSON. */
export const BYTES_OF_SCENES = 262_144
/** How many levels deep a body may be nested. */
export const DEPTH_OF_BODY = 10

/** The parts that a request to an operation has. */
interface SceneOperation {
  /** The parameters of the path, all of which are needed. The page adds the account. */
  parameters?: readonly string[]
  /** The parameters that the query may have. */
  query?: readonly string[]
  /** Whether it has a body. */
  body?: true
}

const BODY: SceneOperation = { body: true }

/**
 * The operations that a scene can call: those of the service, and those of the control plane of which a snapshot takes
 * back what they do to one account. None gives anybody a key, and none deletes anything for good. A test compares them
 * with both documents.
 */
export const SCENE_OPERATIONS: Readonly<Record<SceneCall['operation'], SceneOperation>> = {
  listDmarc: {},
  listDomains: {},
  addDomains: BODY,
  deleteDomains: BODY,
  listDomainGroups: { query: ['id'] },
  createDomainGroup: BODY,
  updateDomainGroup: { query: ['id'], body: true },
  deleteDomainGroup: { query: ['id'] },
  updateAccount: BODY,
  addMonitoredDomains: BODY,
  removeMonitoredDomains: BODY,
  createGroup: BODY,
  updateGroup: { parameters: ['group'], body: true },
  deleteGroup: { parameters: ['group'] },
  setFeatures: { parameters: ['domain'], body: true },
  pinDmarc: { parameters: ['domain'], body: true },
  unpinDmarc: { parameters: ['domain'] },
  updateClock: BODY,
  updateQuota: BODY,
  addFaultSet: { parameters: ['set'] },
  addFault: BODY,
  clearFaults: {},
  deleteFault: { parameters: ['fault'] },
}

/** The calls that change which domains there are: whether they add those of their body. */
const ADDITIONS: Readonly<Record<string, boolean>> = {
  addDomains: true,
  addMonitoredDomains: true,
  deleteDomains: false,
  removeMonitoredDomains: false,
}
/** The calls whose body can name a group that there is afterwards. */
const NAMINGS: ReadonlySet<string> = new Set(['createDomainGroup', 'createGroup', 'updateDomainGroup', 'updateGroup'])

/** The story that an account tells: the one that was imported last, or that of the fixture it was made of. */
export async function findStory({ story, fixture }: AccountOrigin): Promise<Story> {
  return story ?? storyOf(typeof fixture === 'string' ? await loadFixture(fixture) : fixture) ?? { scenes: [] }
}

/** The story of a fixture, if it has scenes. */
export function storyOf({ title, description, scenes = [] }: Fixture): Story | undefined {
  if (scenes.length === 0) return undefined
  return { ...(title !== undefined && { title }), ...(description !== undefined && { description }), scenes }
}

/**
 * Checks the scenes of a fixture, each of which begins with the account that the fixture describes. The domains that they
 * look at must be there, in any spelling that `canonicalHostname` knows. @throws FixtureError
 */
export function checkScenes(
  fixture: LoadedFixture,
  domains: ReadonlySet<string>,
  { canonicalHostname }: Pick<Contract, 'canonicalHostname'>,
): void {
  const { scenes = [], groups = [] } = fixture
  if (scenes.length === 0) return
  const inDepth = scenes.findIndex(({ calls }) => runAtOnce(isDeeperThan(DEPTH_OF_BODY + 2, calls)))
  if (inDepth >= 0) {
    throw errorIn(fixture, `/scenes/${inDepth}/calls`, `A body is nested more than ${DEPTH_OF_BODY} levels deep.`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(scenes))
  if (bytes > BYTES_OF_SCENES) {
    throw errorIn(fixture, '/scenes', `The scenes have ${bytes} bytes, and may have ${BYTES_OF_SCENES}.`)
  }
  const present = { domains, groups: new Set(groups.map(({ name }) => name)) }
  for (const [index, scene] of scenes.entries()) {
    const place = `/scenes/${index}`
    for (const [position, call] of (scene.calls ?? []).entries()) {
      checkCall(fixture, call, `${place}/calls/${position}`)
    }
    const absent = findAbsent(scene, present, canonicalHostname)
    if (absent === undefined) continue
    const what = absent === 'domain' ? 'a domain of this fixture nor added' : 'a group of this fixture nor created'
    const reason = `${show(scene.look_at?.[absent])} is neither ${what} by this scene.`
    throw errorIn(fixture, `${place}/look_at/${absent}`, reason)
  }
}

/**
 * The story as the fixture of an account can have it: without the domains and groups that its scenes look at and the
 * account no longer has, because `checkScenes` refuses them.
 */
export function fitStory({ scenes, ...words }: Story, account: AccountState, contract: Contract): Story {
  const groups = new Set([...account.groups.values()].map(({ name }) => name))
  const { domains } = account
  return { ...words, scenes: scenes.map((scene) => fitScene(scene, { domains, groups }, contract.canonicalHostname)) }
}

function fitScene(scene: Scene, present: Present, canonicalHostname: Contract['canonicalHostname']): Scene {
  const absent = findAbsent(scene, present, canonicalHostname)
  if (absent === undefined || scene.look_at === undefined) return scene
  const { [absent]: _, ...look } = scene.look_at
  return fitScene({ ...scene, look_at: look }, present, canonicalHostname)
}

/** The domains, in canonical form, and the names of the groups that there are before a scene. */
interface Present {
  domains: { has(name: string): boolean }
  groups: ReadonlySet<string>
}

/** Which of the things that a scene looks at is not there after its calls; `undefined` if all are. */
function findAbsent(
  { look_at: look, calls = [] }: Scene,
  { domains, groups }: Present,
  canonicalHostname: Contract['canonicalHostname'],
): 'domain' | 'group' | undefined {
  if (look?.domain === undefined && look?.group === undefined) return undefined
  const canonical = (name: string) => canonicalHostname(name) ?? name
  /** Whether the calls have added a domain or removed it. */
  const changed = new Map<string, boolean>()
  const named = new Set<unknown>()
  for (const { operation, expect, body } of calls) {
    const adds = ADDITIONS[operation]
    // What is added may be there although the response says otherwise: a fault rule can act after the change.
    if (expect !== undefined && adds !== true) continue
    const names = body?.['domains']
    if (adds !== undefined && Array.isArray(names)) for (const each of names) changed.set(canonical(String(each)), adds)
    if (NAMINGS.has(operation)) named.add(body?.['name'])
  }
  const { domain, group } = look
  if (domain !== undefined && !(changed.get(canonical(domain)) ?? domains.has(canonical(domain)))) return 'domain'
  return group !== undefined && !groups.has(group) && !named.has(group) ? 'group' : undefined
}

/** The parts of the request must be those that the operation has; what they contain is decided when it is sent. */
function checkCall(fixture: LoadedFixture, call: SceneCall, place: string): void {
  const { operation } = call
  const { parameters = [], query = [], body } = SCENE_OPERATIONS[operation]
  const given = Object.keys(call.parameters ?? {})
  const missing = parameters.find((name) => !given.includes(name))
  if (missing !== undefined) throw errorIn(fixture, `${place}/parameters/${missing}`, `${operation} needs it.`)
  const strange = given.find((name) => !parameters.includes(name))
  if (strange !== undefined) {
    throw errorIn(fixture, `${place}/parameters/${strange}`, `${operation} has no such parameter of the path.`)
  }
  const unknown = Object.keys(call.query ?? {}).find((name) => !query.includes(name))
  if (unknown !== undefined) {
    throw errorIn(fixture, `${place}/query/${unknown}`, `${operation} has no such parameter of the query.`)
  }
  if (isObject(call.body) !== (body ?? false)) {
    throw errorIn(fixture, `${place}/body`, `${operation} ${body ? 'needs a body' : 'takes no body'}.`)
  }
}
