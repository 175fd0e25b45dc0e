import type { AccountOrigin } from '../domain/account.ts'
import { type Fixture, SCENE_OPERATIONS, type SceneOperation, type Story } from '../domain/fixture.ts'
import { givenFields } from '../domain/given-fields.ts'
import { isObject } from '../ground/json.ts'
import { errorIn, type LoadedFixture, loadFixture } from './fixture.ts'

/** The story of an account: the one of the last import, or the one of its original fixture. */
export async function findStory({ story, fixture }: AccountOrigin): Promise<Story> {
  return story ?? storyOf(typeof fixture === 'string' ? await loadFixture(fixture) : fixture) ?? { scenes: [] }
}

/** The story of a fixture, if it has scenes. */
export function storyOf({ title, description, scenes = [] }: Fixture): Story | undefined {
  return scenes.length === 0 ? undefined : givenFields({ title, description, scenes })
}

/**
 * Checks that each call of a scene has the parts of its operation. What is in them is checked when the call is sent.
 * @throws FixtureError
 */
export function checkScenes(fixture: LoadedFixture): void {
  for (const [index, { calls = [] }] of (fixture.scenes ?? []).entries()) {
    for (const [position, call] of calls.entries()) {
      const { operation } = call
      const known: SceneOperation = SCENE_OPERATIONS[operation]
      const refuse = (part: string, reason: string) =>
        errorIn(fixture, `/scenes/${index}/calls/${position}/${part}`, `${operation} ${reason}.`)
      for (const part of ['parameters', 'query'] as const) {
        const [given, allowed = []] = [Object.keys(call[part] ?? {}), known[part]]
        const missing = part === 'query' ? undefined : allowed.find((name) => !given.includes(name))
        if (missing !== undefined) throw refuse(`${part}/${missing}`, 'needs it')
        const strange = given.find((name) => !allowed.includes(name))
        if (strange !== undefined) throw refuse(`${part}/${strange}`, 'has no such parameter')
      }
      if (isObject(call.body) !== (known.body ?? false)) {
        throw refuse('body', known.body ? 'needs a body' : 'takes no body')
      }
    }
  }
}
