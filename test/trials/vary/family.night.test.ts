import { expect, it } from 'vitest'
import { type Alternative, nameOf } from '../../../src/contract/choices.ts'
import { ask, askNew, optionsFor, shown } from '../../judge/asked.ts'
import { OBSERVABLE } from '../../judge/calibration.ts'
import { choices } from '../../support/choices.ts'
import { START } from '../../support/service.ts'
import { type Client, carryOut } from '../client-in-process.ts'
import { optionsOf } from './recorded-service.ts'
import { reportOf, varyCommand } from './varied-client.ts'

/** One in so many alternatives is tried beside those of the assumption on which a client depends. */
const OTHERS = 12

/** Where nobody is known, a service tells the time of the machine, which is that of no account: of it only the names count. */
function answersOf(answers: Parameters<typeof shown>[0]): string {
  const seen = shown(answers) as [status: number | undefined, headers: object, body: unknown][]
  return JSON.stringify(
    seen.map(([status, headers, body]) => [status, status === 401 ? Object.keys(headers) : headers, body]),
  )
}

it.each(OBSERVABLE)(
  'vary says of each alternative what happens with it, for a client that depends on %s',
  async (name) => {
    const refused = choices.alternatives.find((each) => nameOf(each) === name) as Alternative
    const underAlternative = async (other: Alternative) =>
      answersOf(await askNew(refused, await choices.compile([other])).catch(() => []))
    const wrong = await underAlternative(refused)
    // It works with each choice but one.
    const client: Client = async (service) => {
      if (answersOf(await ask(service, refused)) === wrong) throw new Error(`I do not work with ${name}.`)
    }
    const alternatives = choices.alternatives.filter(({ id }, index) => id === refused.id || index % OTHERS === 0)
    const result = await varyCommand(['client'], {
      ...{ choices: { ...choices, alternatives }, carryOut: carryOut(client), jobs: 1 },
      server: { ...optionsOf(), now: new Date(START).toISOString(), frozen: true, ...optionsFor(refused) },
    })
    const mistakes: string[] = []
    for (const alternative of alternatives) {
      const { verdict = '' } = reportOf(result, nameOf(alternative)) ?? {}
      const fails = (await underAlternative(alternative)) === wrong
      const right = fails ? ['depends'] : ['tolerates', 'not reached', 'inconclusive']
      if (!right.includes(verdict)) mistakes.push(`${nameOf(alternative)} is ${verdict}`)
    }
    expect(mistakes).toEqual([])
  },
)
