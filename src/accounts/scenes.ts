import type { Contract } from '../contract/contract.ts'
import type { AccountOrigin, AccountState } from '../domain/account.ts'
import {
  type Fixture,
  SCENE_OPERATIONS,
  type Scene,
  type SceneCall,
  type SceneOperation,
  type Story,
} from '../domain/fixture.ts'
import { givenFields } from '../domain/given-fields.ts'
import { LIMITS } from '../domain/limits.ts'
import { isObject } from '../ground/json.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { show } from '../ground/show.ts'
import { errorIn, type LoadedFixture, loadFixture } from './fixture.ts'

/** The calls that add or remove domains. The value says whether the domains of the body are added. */
const ADDITIONS: Readonly<Record<string, boolean>> = {
  addDomains: true,
  addMonitoredDomains: true,
  deleteDomains: false,
  removeMonitoredDomains: false,
}
/** The calls with a body that can name a group which exists after the call. */
const NAMINGS: ReadonlySet<string> = new Set(['createDomainGroup', 'createGroup', 'updateDomainGroup', 'updateGroup'])

/** The story of an account: the one of the last import, or the one of its original fixture. */
export async function findStory({ story, fixture }: AccountOrigin): Promise<Story> {
  return story ?? storyOf(typeof fixture === 'string' ? await loadFixture(fixture) : fixture) ?? { scenes: [] }
}

/** The story of a fixture, if it has scenes. */
export function storyOf({ title, description, scenes = [] }: Fixture): Story | undefined {
  return scenes.length === 0 ? undefined : givenFields({ title, description, scenes })
}

/**
 * Checks the scenes of a fixture. Each scene begins with the account that the fixture describes. The domains that a
 * scene shows must exist, in any spelling that `canonicalHostname` accepts. @throws FixtureError
 */
export function checkScenes(
  fixture: LoadedFixture,
  domains: ReadonlySet<string>,
  { canonicalHostname }: Pick<Contract, 'canonicalHostname'>,
): void {
  const { scenes = [], groups = [] } = fixture
  if (scenes.length === 0) return
  const inDepth = scenes.findIndex(({ calls }) => isDeeperThan(LIMITS.sceneDepth + 2, calls))
  if (inDepth >= 0) {
    throw errorIn(fixture, `/scenes/${inDepth}/calls`, `A body is nested more than ${LIMITS.sceneDepth} levels deep.`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(scenes))
  if (bytes > LIMITS.scenesBytes) {
    throw errorIn(fixture, '/scenes', `The scenes have ${bytes} bytes, and may have ${LIMITS.scenesBytes}.`)
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

/** The story without the shown domains and groups that the account no longer has: `checkScenes` refuses them. */
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

/** The domains, in canonical form, and the group names that exist before a scene. */
interface Present {
  domains: { has(name: string): boolean }
  groups: ReadonlySet<string>
}

/** A domain or group that a scene shows and that does not exist after its calls; `undefined` if all exist. */
function findAbsent(
  { look_at: look, calls = [] }: Scene,
  { domains, groups }: Present,
  canonicalHostname: Contract['canonicalHostname'],
): 'domain' | 'group' | undefined {
  if (look?.domain === undefined && look?.group === undefined) return undefined
  const canonical = (name: string) => canonicalHostname(name) ?? name
  /** By domain: whether the calls have added it (true) or removed it. */
  const changed = new Map<string, boolean>()
  const named = new Set<unknown>()
  for (const { operation, expect, body } of calls) {
    const adds = ADDITIONS[operation]
    // A domain may have been added even if an error response is expected: a fault rule can act after the change.
    if (expect !== undefined && adds !== true) continue
    const names = body?.['domains']
    if (adds !== undefined && Array.isArray(names)) for (const each of names) changed.set(canonical(String(each)), adds)
    if (NAMINGS.has(operation)) named.add(body?.['name'])
  }
  const { domain, group } = look
  if (domain !== undefined && !(changed.get(canonical(domain)) ?? domains.has(canonical(domain)))) return 'domain'
  return group !== undefined && !groups.has(group) && !named.has(group) ? 'group' : undefined
}

/** Checks that the request has the parts of its operation. The contents are checked when the request is sent. */
function checkCall(fixture: LoadedFixture, call: SceneCall, place: string): void {
  const { operation } = call
  const { parameters = [], query = [], body }: SceneOperation = SCENE_OPERATIONS[operation]
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
