import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/index.ts'
import { isForFetch, ROWS } from './corpus.ts'
import { askDirectly, expectAnswer, play } from './play.ts'
import { type OpenSurface, openFetch } from './surfaces.ts'

/**
 * Tests that a server on a store answers as the corpus says, without a port, and that the next server there has every account
 * that was changed as it was.
 */
export function testKept(options: () => ServerOptions | Promise<ServerOptions>): void {
  let opened: ServerOptions
  let surface: OpenSurface
  const changed: string[] = []
  beforeAll(async () => {
    opened = await options()
    surface = await openFetch(opened)
  })
  afterAll(() => surface.stop())

  it.for(ROWS.filter(isForFetch))('the service answers as the corpus says: $id', async (row) => {
    const played = await play(surface, row)
    expectAnswer(row, played.received)
    const isRead = row.send.startsWith('GET ') && row.given.requests === undefined
    if (!isRead && row.answer.status < 300) changed.push(played.account)
  })

  it('the next server has every account as it was', async () => {
    expect(changed.length).toBeGreaterThan(50)
    const before = await statesIn(surface, changed)
    await surface.stop()
    surface = await openFetch(opened)
    expect(await statesIn(surface, changed)).toEqual(before)
  })
}

function statesIn({ service }: OpenSurface, accounts: readonly string[]): Promise<unknown[]> {
  return Promise.all(
    accounts.map(async (account) => {
      const { status, data } = await askDirectly(service, 'GET', `/accounts/${account}/state`)
      expect(status).toBe(200)
      return data
    }),
  )
}
