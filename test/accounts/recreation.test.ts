import { describe, expect, it } from 'vitest'
import { type AccountParameters, recreateAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import type { AccountState } from '../../src/domain/account.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { START } from '../support/service.ts'
import { accountOf, rules } from './fixture-files.ts'

const DAY = 86_400_000
const YESTERDAY: Fixture = { seed: 7, plan: 'above-stone', domains: [{ name: 'a.example', added_at: 'P1D' }] }
const EARLIER = '2025-06-01T00:00:00Z'

const ageOf = ({ domains }: AccountState) => domains.get('a.example')?.addedAt

describe('an account that is made again', () => {
  it('is what it was, with the choices that it remembers and its own key', async () => {
    const chosen: Partial<AccountParameters> = {
      ...{ seed: 3, now: EARLIER, countedFrom: '2025-05-01T00:00:00Z', frozen: true, plan: 'stone' },
      faults: [{ set: 'slow', rule: { delay_ms: 1 } }],
    }
    const first = await accountOf(YESTERDAY, chosen)
    const changed = { ...first, seed: 1, plan: 'below-stone', domains: first.domains.delete('a.example'), keys: [] }
    const again = await recreateAccount(changed, { real: START + DAY }, rules)
    for (const field of ['id', 'seed', 'plan', 'clock', 'createdAt', 'keys', 'faults', 'origin'] as const) {
      expect(again[field], field).toEqual(first[field])
    }
    expect([...again.domains.values()]).toEqual([...first.domains.values()])
    expect(ageOf(again)).toBe(Date.parse('2025-04-30T00:00:00Z'))
  })

  it('without choices follows its fixture and the clock of the machine', async () => {
    const again = await recreateAccount(await accountOf(YESTERDAY, { seed: undefined }), { real: START + DAY }, rules)
    expect(again).toMatchObject({ seed: 7, plan: 'above-stone', createdAt: START + DAY, clock: { offset: 0 } })
    expect(ageOf(again)).toBe(START)
  })

  it('of another fixture counts its durations from its own beginning, and forgets from when the others were', async () => {
    const first = await accountOf({}, { countedFrom: EARLIER, now: '2025-07-01T00:00:00Z' })
    const fixture = await loadFixture(YESTERDAY)
    const again = await recreateAccount(first, { real: START, fixture }, rules)
    expect(ageOf(again)).toBe(Date.parse('2025-06-30T00:00:00Z'))
    expect(again.origin).not.toHaveProperty('countedFrom')
    expect(ageOf(await recreateAccount(again, { real: START }, rules))).toBe(ageOf(again))
  })

  it('takes what is chosen now in place of what was chosen then, and remembers it', async () => {
    const first = await accountOf(YESTERDAY, { now: EARLIER, frozen: true, plan: 'stone' })
    const chosen = { seed: 9, now: '2025-08-01T00:00:00Z', frozen: false, plan: 'below-stone' }
    const again = await recreateAccount(first, { real: START, ...chosen }, rules)
    expect(again).toMatchObject({ seed: 9, plan: 'below-stone', createdAt: Date.parse(chosen.now), origin: chosen })
    expect(again.clock).toEqual({ offset: Date.parse(chosen.now) - START })
  })

  it('forgets the story that was imported since', async () => {
    const first = await accountOf(YESTERDAY)
    const told = { ...first, origin: { ...first.origin, story: { title: 'Another', scenes: [] } } }
    expect((await recreateAccount(told, { real: START }, rules)).origin).not.toHaveProperty('story')
  })
})
