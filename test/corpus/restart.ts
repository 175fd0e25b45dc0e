import { expect } from 'vitest'
import type { ServerOptions } from '../../src/index.ts'
import { isForFetch, ROWS } from './corpus.ts'
import { askDirectly, expectAnswer, play } from './play.ts'
import { openFetch } from './surfaces.ts'

/** Plays the corpus on a store, and expects every account to be there as it was once another server has opened the store. */
export async function expectKept(options: ServerOptions): Promise<void> {
  const surface = await openFetch(options)
  const accounts: string[] = []
  for (const row of ROWS.filter(isForFetch)) {
    const played = await play(surface, row)
    expectAnswer(row, played.received)
    accounts.push(played.account)
  }
  const statesOf = async ({ service }: typeof surface) => {
    const states: Record<string, unknown> = {}
    for (const account of accounts) {
      const { status, data } = await askDirectly(service, 'GET', `/accounts/${account}/state`)
      expect(status).toBe(200)
      states[account] = data
    }
    return states
  }
  const before = await statesOf(surface)
  await surface.stop()
  const reopened = await openFetch(options)
  const after = await statesOf(reopened)
  await reopened.stop()
  expect(after).toEqual(before)
}
