import { describe, expect, it } from 'vitest'
import { Investigation } from '../../src/conformance/investigation.ts'
import { DATE, exchangeOf, type Made, success } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'

/** The ids of the findings about the last of these exchanges, of which no other client made any. */
async function judgeLast(...all: readonly Made[]): Promise<string[]> {
  const investigation = await Investigation.begin({ choices, isSoleWriter: true })
  let ids: string[] = []
  for (const [index, made] of all.entries()) {
    const { response, ...exchange } = exchangeOf({ at: DATE + index * 1000, ...made })
    // Header fields are judged elsewhere.
    const findings = await investigation.take({ ...exchange, id: `${index}`, response })
    ids = findings.map(({ id }) => id).filter((id) => !id.includes('/headers/'))
  }
  return ids
}

const domains = (names: readonly string[]): Made => ({ path: '/domains', body: success({ domains: names }) })

describe('a list of domains', () => {
  it.each([
    [
      'breaks a rule if it has one twice',
      ['b.example', 'a.example', 'a.example'],
      'broken-rule/listDomains/200/all-domains-listed',
    ],
    [
      'breaks a rule if it has one twice in another case',
      ['a.example', 'A.example'],
      'broken-rule/listDomains/200/all-domains-listed',
    ],
    [
      'makes another choice if two differ only by a final dot',
      ['a.example', 'a.example.'],
      'another-choice/listDomains/200/alike',
    ],
    [
      'makes another choice if two are U-labels and A-labels of one name',
      ['bücher.example', 'xn--bcher-kva.example'],
      'another-choice/listDomains/200/alike',
    ],
  ])('%s', async (_, names, id) => {
    expect((await judgeLast(domains(names))).filter((each) => !each.startsWith('contract-violation/'))).toEqual([id])
  })
})
