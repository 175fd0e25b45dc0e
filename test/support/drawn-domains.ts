import fc from 'fast-check'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'

const NAMES = ['a.example', 'b.a.example', 'c.example', 'news.c.example', 'd.example', 'parked.example']
const MOMENTS = {
  since: fc.nat(60).map((days) => `P${days}D`),
  added_at: fc.integer({ min: 1, max: 60 }).map((days) => `P${days}D`),
}

/** Domains of a fixture with profiles and moments, each of which may be missing, as the given fields may. */
export function drawnDomains({
  fields = {},
  minLength = 1,
}: {
  fields?: Record<string, fc.Arbitrary<unknown>>
  minLength?: number
} = {}) {
  const profile = fc.constantFrom(...PROFILE_NAMES)
  const domain = fc.record(
    { name: fc.constantFrom(...NAMES), profile, ...MOMENTS, ...fields },
    { requiredKeys: ['name'] },
  )
  return fc.uniqueArray(domain, { selector: ({ name }) => name, minLength, maxLength: 6 })
}
