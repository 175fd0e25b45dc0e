import { describe, expect, it } from 'vitest'
import { nameOf, readChoices } from '../../../src/contract/choices.ts'
import { textOf } from '../../../src/http/content.ts'
import { findReached } from '../../../src/trials/vary/counterfactual.ts'
import type { Recording } from '../../../src/trials/vary/recording.ts'
import { BEHAVIOURS, type Behaviour } from '../../contract/behaviours.ts'
import { budget } from '../../support/budget.ts'
import { choices } from '../../support/choices.ts'
import { optionsOf, record } from './recorded-service.ts'
import { only } from './varied-client.ts'

/** What shows of these cannot be asked again: a store that fails, which counts as reached by any alternative. */
const UNANSWERABLE = new Map([['internal-error', 1]])
/** A client that is too slow is not asked again here, but see below. */
const SHOWN = BEHAVIOURS.filter(({ id }) => id !== 'status-timeout')

const recordings = new Map<string, Promise<Recording>>()

/** What a service is asked that shows an assumption, and what it answers: once for all tests. */
function recordingFor({ id, options, observe }: Behaviour): Promise<Recording> {
  const recording = recordings.get(id) ?? record(options, observe)
  recordings.set(id, recording)
  return recording
}

/** One in so many. */
function every(step: number): typeof SHOWN {
  return SHOWN.filter((_, index) => index % step === 0)
}

describe('the requests that show an assumption reach', () => {
  it.each(every(budget({ quick: 40, whole: 3, full: 1 })).map((behaviour) => [behaviour.id, behaviour] as const))(
    'each alternative of %s',
    async (id, behaviour) => {
      const found = await findReached({
        server: optionsOf(behaviour.options),
        choices: only(id),
        recordings: [await recordingFor(behaviour)],
      })
      const expected = only(id).alternatives.map(nameOf)
      const names = [...found.reached, ...found.undecided].map(({ alternative }) => nameOf(alternative))
      const unanswerable = UNANSWERABLE.get(id) ?? 0
      expect({ names, unanswerable: found.unanswerable }).toEqual({ names: expected, unanswerable })
    },
  )
})

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

// The other direction: that nothing is left out which would have changed something.
describe('an alternative that is not reached changes nothing when the requests are sent under it, those that show', () => {
  /**
   * So many alternatives are tried with the requests of an assumption. Which ones differs from assumption to assumption, so
   * that in the full run each is tried.
   */
  const tried = 2

  it.each(
    every(budget({ quick: 60, whole: 6, full: 1 })).map(
      (behaviour, index) => [behaviour.id, behaviour, index] as const,
    ),
  )('%s', async (_, behaviour, offset) => {
    const { options, observe } = behaviour
    const recording = await recordingFor(behaviour)
    const stride = Math.floor(choices.alternatives.length / tried)
    const alternatives = choices.alternatives.filter((_, index) => index % stride === offset % stride)
    const found = await findReached({
      server: optionsOf(options),
      choices: { ...choices, alternatives },
      recordings: [recording],
    })
    const touched = new Set([...found.reached, ...found.undecided].map(({ alternative }) => alternative))
    for (const alternative of alternatives.filter((each) => !touched.has(each))) {
      const otherwise = await record(options, observe, await choices.load([alternative]))
      expect(answersIn(otherwise), nameOf(alternative)).toEqual(answersIn(recording))
    }
  })
})

it('an alternative for which there is no time is not decided', async () => {
  const recording = await record(undefined, (service) => service.get('/domains'))
  let looked = 0
  const found = await findReached({
    ...{ server: optionsOf(), choices: only('domain-order', 'cors'), recordings: [recording] },
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
