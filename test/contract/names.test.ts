import { expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import type { Bucket, Plan } from '../../src/contract/names.ts'

const PLANS: Record<Plan, true> = { 'below-stone': true, stone: true, 'above-stone': true }
const BUCKETS: Record<Bucket, true> = { dmarc: true, domains: true, domaingroups: true }

it('the names that an editor proposes are those of the contract', async () => {
  const { settings, operations } = await loadContract()
  expect(Object.keys(PLANS)).toEqual(settings.plans.order)
  expect(Object.keys(BUCKETS)).toEqual([...new Set(operations.map(({ path }) => path.split('/')[1]))])
})
