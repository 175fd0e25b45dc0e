import type { Credentials, Exchange } from '../../src/exchanges/exchange.ts'
import { Judge, type JudgeOptions } from '../../src/judge/judge.ts'
import { DATE, exchangeOf, type Made, success } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'

export interface Step extends Made {
  change?(exchange: Exchange): Exchange
}

/** Changes an exchange as if other credentials had been sent. */
export const sentWith =
  (credentials: Credentials) =>
  (exchange: Exchange): Exchange => ({ ...exchange, request: { ...exchange.request, credentials } })

export const sentByKey = (key: string) => sentWith({ kind: 'sent', scheme: 'Bearer', key, isWord: true })

/** A judge that no other client disturbs, and which has seen these exchanges, one a second. */
export async function judgeAfter(steps: readonly Step[], options: Partial<JudgeOptions> = { isSoleWriter: true }) {
  const judge = new Judge({ choices, ...options })
  let seconds = 0
  const take = ({ change = (exchange) => exchange, ...made }: Step): string[] => {
    const exchange = exchangeOf({ at: DATE + ++seconds * 1000, lasts: 10, ...made })
    const findings = judge.take(change({ ...exchange, id: `exchange ${seconds}` }))
    // Header fields and choices are judged elsewhere, and so is the client.
    return findings
      .map(({ id }) => id)
      .filter((id) => !/\/headers\/|\/request\/|^decides-assumption|^another-choice/.test(id))
  }
  for (const step of steps) take(step)
  return { judge, take }
}

/** The ids of what is found about the last of these exchanges. */
export async function judgeLast(steps: readonly Step[], options?: Partial<JudgeOptions>): Promise<string[]> {
  const { take } = await judgeAfter(steps.slice(0, -1), options)
  const last = steps.at(-1)
  return last === undefined ? [] : take(last)
}

export const list = (...names: string[]): Step => ({ path: '/domains', body: success({ domains: names }) })

export const add = (names: readonly unknown[], shown: readonly unknown[] = names, count = shown.length): Step => ({
  method: 'POST',
  path: '/domains',
  sent: { domains: names },
  body: success({ message: 'Added.', domains: shown, count }),
})

export const remove = (names: readonly string[], shown = names, count = shown.length): Step => ({
  ...add(names, shown, count),
  method: 'DELETE',
})

export const group = (id: string, name: string, ...domains: string[]) => ({ id, name, domains })

export const groups = (...all: ReturnType<typeof group>[]): Step => ({
  path: '/domaingroups',
  body: success({ groups: all, count: all.length }),
})

export const create = (sent: unknown, shown: unknown): Step => ({
  method: 'POST',
  path: '/domaingroups',
  sent,
  body: success({ group: shown }),
})

export const change = (id: string, sent: unknown, data: unknown): Step => ({
  method: 'PATCH',
  path: `/domaingroups?id=${id}`,
  sent,
  body: success(data),
})

export const destroy = (id: string): Step => ({
  method: 'DELETE',
  path: `/domaingroups?id=${id}`,
  body: success({ message: 'Deleted.' }),
})

export const refused = (step: Step, code: string, status = 400): Step => ({
  ...step,
  status,
  body: { success: false, error: { code, message: 'No.' } },
})
