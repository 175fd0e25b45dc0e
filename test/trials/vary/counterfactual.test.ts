import { describe, expect, it } from 'vitest'
import { type Alternative, nameOf, readChoices } from '../../../src/contract/choices.ts'
import { textOf } from '../../../src/journal/entry.ts'
import { findReached } from '../../../src/trials/vary/counterfactual.ts'
import type { Recording } from '../../../src/trials/vary/recording.ts'
import { ask, optionsFor } from '../../judge/asked.ts'
import { choices } from '../../support/choices.ts'
import { optionsOf, record } from './recorded-service.ts'
import { only } from './varied-client.ts'

/** What a run was answered, without what is new each time. */
function answersIn({ requests }: Recording): unknown[] {
  return requests.map(({ entry: { method, target, status, responseHeaders, responseBody } }) => [
    method,
    target,
    status,
    responseHeaders.join('\n'),
    responseBody && textOf(responseBody),
  ])
}

describe('the requests that show an assumption', () => {
  it.each(['create-group-status', 'already-monitored', 'canonical-form', 'quota-window'])(
    'reach each alternative of %s, and one that is not reached changes nothing',
    async (id) => {
      const [first] = only(id).alternatives as [Alternative]
      const options = optionsFor(first)
      const ofRun = (contract?: Parameters<typeof record>[2]) =>
        record(options, (service) => ask(service, first), contract)
      const recording = await ofRun()
      const tried = choices.alternatives.filter((each, index) => each.id === id || index % 30 === 0)
      const found = await findReached({
        ...{ server: optionsOf(options), choices: { ...choices, alternatives: tried }, recordings: [recording] },
      })
      const touched = [...found.reached, ...found.undecided].map(({ alternative }) => nameOf(alternative))
      expect(touched).toEqual(expect.arrayContaining(only(id).alternatives.map(nameOf)))
      for (const alternative of tried.filter((each) => !touched.includes(nameOf(each)))) {
        const otherwise = await ofRun(await choices.load([alternative]))
        expect(answersIn(otherwise), nameOf(alternative)).toEqual(answersIn(recording))
      }
    },
  )
})

it('an alternative for which there is no time is not decided', async () => {
  const recording = await record(undefined, (service) => service.get('/domains'))
  let looked = 0
  const found = await findReached({
    ...{ server: optionsOf(), choices: only('domain-order', 'quota-window'), recordings: [recording] },
    whyOver: () => (looked++ === 0 ? undefined : 'Over.'),
  })
  expect(found.undecided.map(({ reason }) => reason)).toEqual(['Over.', 'Over.'])
})

describe('an alternative that does not fit', () => {
  it('the overlays of the user is left out, with the reason', async () => {
    const overlay = { name: 'user', actions: [{ target: '$.nothing', update: {} }] }
    const some = only('create-group-status')
    const broken = { ...some, alternatives: some.alternatives.map((each) => ({ ...each, overlay })) }
    const recording = await record(undefined, (service) => service.get('/domains'))
    const { reached, undecided } = await findReached({ server: optionsOf(), choices: broken, recordings: [recording] })
    expect(reached).toEqual([])
    expect(undecided.map(({ reason }) => reason)).toEqual([expect.stringContaining('$.nothing selects nothing')])
  })

  it('to what is chosen already is that of another choice only', async () => {
    const [first] = only('domain-order').alternatives
    if (first === undefined) throw new Error('There is no such alternative.')
    const chosen = await readChoices([first.overlay])
    const order = chosen.alternatives.filter(({ id }) => id === 'domain-order')
    expect(order.map(({ assumption }) => assumption.choice)).toEqual([
      { value: 'alphabetical' },
      { value: 'alphabetical' },
    ])
    const options = { fixture: { domains: ['b.example', 'a.example', 'c.example'] } }
    const recording = await record(options, (service) => service.get('/domains'), chosen.contract)
    const found = await findReached({
      server: optionsOf(options),
      choices: { ...chosen, alternatives: order },
      recordings: [recording],
    })
    expect(found.reached.map(({ alternative }) => nameOf(alternative))).toEqual(['domain-order/2'])
    expect(found.unanswerable).toBe(0)
  })
})
