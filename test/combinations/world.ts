import fc, { type Arbitrary } from 'fast-check'
import type { Fixture } from '../../src/domain/fixture.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { alternatives } from '../support/alternatives.ts'
import { weighted } from '../support/weighted.ts'
import { fixtures } from './fixtures.ts'
import type { Step } from './steps.ts'
import { INSTANTS, orNothing, withoutNothing } from './values.ts'

/** What a server is started with, wherever it keeps its accounts. */
export interface World {
  /** Of which alternative of which assumption there is an overlay, such as `body-limit-2`. */
  overlays: readonly string[]
  fixture: string | Fixture
  options: ServerOptions
}

const overlays = fc.constantFrom(...alternatives.map(([id, number]) => `${id}-${number}`))

const options: Arbitrary<ServerOptions> = fc
  .record({
    seed: orNothing(fc.constantFrom(0, 7, Number.MAX_SAFE_INTEGER)),
    now: orNothing(fc.constantFrom(...INSTANTS.filter((instant) => !instant.startsWith('1969')))),
    frozen: orNothing(fc.boolean()),
    plan: orNothing(fc.constantFrom('stone', 'above-stone', 'below-stone'), 3),
    faults: orNothing(fc.subarray(['flaky', 'quota-storm', 'lossy-writes', 'slow']), 4),
    durability: orNothing(fc.constantFrom('rename' as const, 'fsync' as const), 4),
    enforceQuotas: orNothing(fc.constant(false)),
    responseValidation: orNothing(fc.constantFrom('warn' as const, 'off' as const), 3),
    journal: orNothing(fc.constantFrom(0, 1, 5), 4),
    maxAccounts: orNothing(fc.constantFrom(2, 3), 3),
    simulator: orNothing(fc.constant(false), 3),
    sandboxKeys: orNothing(fc.constant(false), 3),
  })
  .map(withoutNothing)

export const worlds: Arbitrary<World> = fc.record({
  overlays: weighted(
    [2, fc.constant<string[]>([])],
    [1, fc.uniqueArray(overlays, { maxLength: 3, selector: (overlay) => overlay.replace(/-\d+$/, '') })],
  ),
  fixture: fixtures,
  options,
})

/** Changes what a drawn combination has in common with all that are played. */
export type Restrict = (world: World, steps: readonly Step[]) => [World, readonly Step[]]

/** Where several machines have clocks, no time passes by itself: all clocks stand, from a moment that all know. */
export const standing: Restrict = (world, steps) => {
  const stopped = JSON.stringify([world, steps]).replaceAll('"frozen":false', '"frozen":true')
  const [{ options, ...rest }, list]: [World, Step[]] = JSON.parse(stopped)
  return [
    { ...rest, options: { now: '2026-01-15T09:30:00Z', ...options, frozen: true } },
    list.filter((step) => typeof step !== 'object' || !('hours' in step)),
  ]
}
