import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Contract } from '../../src/contract/contract.ts'
import { DAY, HOUR, idOf, instant } from './account.ts'
import { profileOf } from './chosen-profile.ts'
import { allCommands, GRACE_END, lookAtEverything } from './commands.ts'
import type { Event, OpenPlace, Place } from './places.ts'
import { BEGINNING, FIRST, secretOf } from './pool.ts'
import { Run } from './run.ts'
import { STANDING, World } from './world.ts'

interface Search {
  contract: Contract
  places: readonly OpenPlace[]
  /** Whether all clocks stand, as they must where machines have clocks of their own. */
  isStanding?: boolean
  /** How the servers of all but the first place may end. */
  events?: readonly Event[]
  runs: number
  seed: number
}

/** Sends random commands to the stand-in at these places, and holds every answer to the model. Returns which there were. */
export async function search({ contract, places, isStanding = false, events = [], runs, seed }: Search) {
  const reached = new Set<string>()
  const sequences = fc.noBias(fc.commands([allCommands(events)], { maxCommands: 200, size: 'max' }))
  const property = fc.asyncProperty(sequences, async (commands) => {
    const scratch = mkdtempSync(join(tmpdir(), 'understudy-model-'))
    const world = new World(profileOf(contract), isStanding)
    const clock = () => world.now
    const options = { fixture: FIRST, seed: 42, apiKey: secretOf('main'), clock, ...(isStanding && STANDING) }
    const opened: Place[] = []
    try {
      for (const open of places) opened.push(await open({ options, contract, scratch }))
      const run = new Run(world, contract, opened, reached)
      await setUp(run)
      await fc.asyncModelRun(() => ({ model: world, real: run }), commands)
      await lookAtEverything(run)
    } finally {
      await Promise.all(opened.map((place) => place.stop()))
      rmSync(scratch, { recursive: true, force: true })
    }
  })
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: process.env['MODEL_END'] !== undefined })
  return reached
}

/** Several keys of one account; another account that lives in other hours and on another day; one below the plan. */
async function setUp(run: Run): Promise<void> {
  const { world } = run
  const created = { young: GRACE_END - 7 * DAY, disabled: BEGINNING - 30 * DAY }
  for (const [name, createdAt] of Object.entries(created)) {
    const secret = secretOf(name)
    await run.control('POST', '/accounts/default/keys', { key: secret, created_at: instant(createdAt) })
    world.accounts.get('default')?.account.keys.push({ secret, createdAt, disabled: false })
  }
  const disabled = world.accounts.get('default')?.account.keys.at(-1)
  if (disabled !== undefined) disabled.disabled = true
  await run.control('PATCH', `/accounts/default/keys/${idOf(secretOf('disabled'))}`, { disabled: true })
  const now = instant(BEGINNING + 15 * HOUR + 17 * 60_000 + 123)
  for (const more of [
    { id: 'other', now, plan: 'above-stone' },
    { id: 'small', plan: 'below-stone' },
  ]) {
    const key = secretOf(more.id)
    await run.control('POST', '/accounts', { ...more, api_key: key })
    world.open(more.id, { ...more, fixture: FIRST, key, seed: 42 })
  }
}

/** Every answer that the contract documents, but for failures of the stand-in itself. */
export function answersOf({ operations }: Contract): string[] {
  const answers = operations.flatMap(({ id, responses }) =>
    [...responses.values()].flatMap(({ status, codes }) =>
      codes.size === 0 ? [`${id} ${status}`] : [...codes].map((code) => `${id} ${status} ${code}`),
    ),
  )
  return answers.filter((answer) => !answer.endsWith('internal_error'))
}
