import { call } from '../client.ts'
import { createResource } from '../resource.ts'
import type { Coverage, Gap } from '../responses.ts'

/** A report is long, and each request may change it. */
const MILLISECONDS_OF_REST = 3_000

/** How much of the contract the requests of the account have covered. */
export const coverage = createResource({
  load: (account) => call('getCoverage', { parameters: { account } }),
  tabs: ['coverage'],
  afterRequests: 1_000,
  restOf: () => MILLISECONDS_OF_REST,
  polled: true,
})

/** A part of the contract that no request of the account has covered. */
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
