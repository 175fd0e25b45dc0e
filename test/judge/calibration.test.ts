import { describe, expect, it } from 'vitest'
import { askNew } from './asked.ts'
import { alternativeNamed, calibrate, choices, mistakesAbout, wrongVerdicts } from './calibration.ts'

/** Two choices that show in the same parts of a response, or of which one hides the other. */
const PAIRS: readonly (readonly [one: string, other: string])[] = [
  ['decimals/1', 'percentages/1'],
  ['status-not-found/1', 'status-unknown-path/1'],
  ['status-unknown-path/1', 'path-matching/1'],
  ['routing/1', 'status-unauthorized/1'],
  ['routing/1', 'path-matching/1'],
  ['canonical-form/1', 'international-names/2'],
  ['already-monitored/1', 'repeated-domains/1'],
  ['unmonitored-deletion/2', 'deletion-of-members/1'],
  ['shared-domains/2', 'deletion-of-members/1'],
  ['too-many-domains/2', 'repeated-domains/1'],
  ['empty-lists/2', 'null-fields/1'],
  ['charged-requests/1', 'quota-window/1'],
  ['charged-requests/1', 'quota-headers/3'],
  ['rate-limit-reset/1', 'quota-window/1'],
  ['domain-order/1', 'canonical-form/2'],
  ['update-group-response/2', 'shared-domains/2'],
]

describe('calibration', () => {
  it.each(['create-group-status/1', 'already-monitored/1', 'domain-order/1', 'canonical-form/1', 'quota-window/1'])(
    'finds %s in the answers to the requests that decide it',
    async (name) => expect(await mistakesAbout(name)).toEqual([]),
  )

  it.each(PAIRS)('says nothing wrong of a service with %s and %s', async (...names) => {
    const truth = names.map(alternativeNamed)
    const contract = await choices.compile(truth)
    for (const asked of truth) {
      const exchanges = await askNew(asked, contract)
      expect(wrongVerdicts(await calibrate(exchanges), truth)).toEqual([])
      expect(wrongVerdicts(await calibrate(exchanges, false), truth)).toEqual([])
    }
  })
})
