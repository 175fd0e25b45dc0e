import { call } from '../client.ts'
import { createResource } from '../resource.ts'
import type { Coverage, Gap } from '../responses.ts'

/** The report is long and may change with each request, so it is loaded at most this often. */
const MILLISECONDS_OF_REST = 3_000

/** The coverage of the contract by the requests of the account. */
export const coverage = createResource({
  load: (account) => call('getCoverage', { parameters: { account } }),
  tabs: ['coverage'],
  afterRequests: 1_000,
  restOf: () => MILLISECONDS_OF_REST,
  polled: true,
})

/** A part of the contract that no request of the account covers. */
export interface NamedGap {
  kind: 'response' | 'rule' | 'edge'
  name: string
  says?: string
  gap: Gap
}

export function gapsOf({ operations, rules, edges }: Coverage): NamedGap[] {
  const responses = operations.flatMap(({ operation, responses }) =>
    responses
      .filter(({ genuine }) => genuine === 0)
      .map((gap): NamedGap => {
        const code = gap.code === undefined ? '' : ` ${gap.code}`
        return { kind: 'response', name: `${operation} → ${gap.status}${code}`, gap }
      }),
  )
  return [
    ...responses,
    ...rules.filter(({ seen }) => !seen).map((gap): NamedGap => ({ kind: 'rule', name: gap.id, says: gap.says, gap })),
    ...edges.filter(({ seen }) => !seen).map((gap): NamedGap => ({ kind: 'edge', name: gap.id, gap })),
  ]
}
