import { OrderedMap } from 'immutable'
import { expect, it } from 'vitest'
import { LIMITS } from '../../src/domain/limits.ts'
import { refuseTooLarge } from '../../src/store/kept-account.ts'
import { exampleAccount, hosts, withDomains } from './example-account.ts'

const empty = exampleAccount('acme')
const of = {
  domains: (count: number) => withDomains(empty, hosts(count)),
  groups: (count: number) => ({
    ...empty,
    groups: OrderedMap(hosts(count).map((id) => [id, { id, name: id, domains: [] }])),
  }),
}

it.for(['domains', 'groups'] as const)('An account with more %s than it may have can only shrink', (part) => {
  const [most, more, yetMore] = [0, 1, 2].map((extra) => of[part](LIMITS[part] + extra))
  if (most === undefined || more === undefined || yetMore === undefined) throw new Error('no account')
  const refused = `An account may have ${LIMITS[part]} ${part}, and this one would have ${LIMITS[part] + 1}`
  expect(() => refuseTooLarge(most)).not.toThrow()
  expect(() => refuseTooLarge(more)).toThrow(refused)
  expect(() => refuseTooLarge(more, most)).toThrow(refused)
  expect(() => refuseTooLarge(yetMore, more)).toThrow()
  for (const after of [most, more, { ...more, plan: 'granite' }]) {
    expect(() => refuseTooLarge(after, yetMore)).not.toThrow()
  }
})
