import { describe, expect, it } from 'vitest'
import { summarise } from '../../src/figures/overview.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import { accountOf, domain, RULES, TODAY } from './monitoring.ts'

const NAMES = ['a.example', 'b.example', 'c.example']

describe('the overview of an account', () => {
  it('has the domains that were there when it began, whatever changes while it pauses', () => {
    const domains = NAMES.map((name) => domain(name, { volume: 1000 }))
    const expected = runAtOnce(summarise(accountOf(domains), TODAY - 2, TODAY, RULES))
    const account = accountOf(domains)
    const work = summarise(account, TODAY - 2, TODAY, RULES)
    work.next()
    account.domains.delete('c.example').set('d.example', domain('d.example', { volume: 9000 }))
    expect(runAtOnce(work)).toEqual(expected)
  })
})
