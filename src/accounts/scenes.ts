import type { Contract } from '../contract/contract.ts'
import type { AccountOrigin } from '../domain/account.ts'
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
  for (const [index, scene] of scenes.entries()) {
    const place = `/scenes/${index}`
    const [added, removed, named] = [new Set<string>(), new Set<string>(), new Set<string>()]
    for (const [position, call] of (scene.calls ?? []).entries()) {
      checkCall(fixture, call, `${place}/calls/${position}`)
      const adds = ADDITIONS[call.operation]
      // What is added may be there although the response says otherwise: a fault rule can act after the change.
      if (call.expect !== undefined && adds !== true) continue
      const names = call.body?.['domains']
      for (const name of adds !== undefined && Array.isArray(names) ? names : []) {
        const canonical = canonicalHostname(String(name)) ?? String(name)
        const [to, from] = adds ? [added, removed] : [removed, added]
        to.add(canonical)
        from.delete(canonical)
      }
      const group = call.body?.['name']
      if (NAMINGS.has(call.operation) && typeof group === 'string') named.add(group)
    }
    checkLook(scene, {
      refuse(field, reason) {
        throw errorIn(fixture, `${place}/look_at/${field}`, reason)
      },
      hasDomain(name) {
        const canonical = canonicalHostname(name) ?? name
        return added.has(canonical) || (domains.has(canonical) && !removed.has(canonical))
      },
      hasGroup: (name) => named.has(name) || groups.some((group) => group.name === name),
    })
  }
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

/** What there is to look at in a scene. */
interface Sight {
  refuse(field: string, reason: string): never
  hasDomain(name: string): boolean
  hasGroup(name: string): boolean
}

function checkLook({ look_at: look }: Scene, { refuse, hasDomain, hasGroup }: Sight): void {
  if (look?.domain !== undefined && !hasDomain(look.domain)) {
    refuse('domain', `${show(look.domain)} is neither a domain of this fixture nor added by this scene.`)
  }
  if (look?.group !== undefined && !hasGroup(look.group)) {
    refuse('group', `${show(look.group)} is neither a group of this fixture nor created by this scene.`)
  }
}
