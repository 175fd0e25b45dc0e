import type { Contract } from '../contract/contract.ts'
import { ANY_ORIGIN, type Cors, createCors } from '../http/cors.ts'
import type { CompleteOptions } from './option-table.ts'

/** What lets pages use the service: those that the user has chosen, or else those of the contract. */
export function corsFor(
  { cors, prefer }: Pick<CompleteOptions, 'cors' | 'prefer'>,
  { settings, document }: Contract,
): Cors | undefined {
  const ofContract = settings.cors === 'any-origin' ? [ANY_ORIGIN] : []
  const echoes = settings.clientRequestIds === 'echoed'
  return createCors({
    origins: cors.length > 0 ? cors : ofContract,
    // The fields that mean something here. There are others that a browser lets a page send without asking.
    allowed: ['Authorization', 'Content-Type', ...(prefer ? ['Prefer'] : []), ...(echoes ? ['X-Request-Id'] : [])],
    exposed: Object.keys(document.resolved.components?.headers ?? {}),
  })
}
