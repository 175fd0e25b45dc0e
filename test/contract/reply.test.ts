import { expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { Replier } from '../../src/contract/reply.ts'

it('Replies are kept with their source, until they are larger together than the limit', async () => {
  const contract = await loadContract()
  const operation = contract.operations.find(({ id }) => id === 'listDomains')
  if (operation === undefined) throw new Error('There is no such operation.')
  let made = 0
  const make = () => ({ domains: [`a${++made}.example`] })
  /** Each reply has 50 bytes. */
  const replier = new Replier(contract, 'error', 100)
  const [one, other, third] = [{}, {}, {}]
  const ask = (source: object, variant = '') =>
    String(replier.succeedCached(operation, { source, variant, make }).body.held).match(/\d/)?.[0]
  expect([ask(one), ask(one), ask(other), ask(one)]).toEqual(['1', '1', '2', '1'])
  expect([ask(one, 'of tomorrow'), ask(one, 'of tomorrow'), ask(other)]).toEqual(['3', '3', '4'])
  expect([ask(third), ask(other), ask(third)]).toEqual(['5', '6', '5'])
})
