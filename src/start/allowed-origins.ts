import type { Contract } from '../contract/contract.ts'
import { ANY_ORIGIN, type Cors, createCors } from '../http/cors.ts'
import type { CompleteOptions } from './option-table.ts'

/** The origins whose pages may use the service: those of the option, or else those of the contract. */
export function allowedOrigins(
  { cors }: Pick<CompleteOptions, 'cors'>,
  { settings }: Pick<Contract, 'settings'>,
): readonly string[] {
  return cors.length === 0 && settings.cors === 'any-origin' ? [ANY_ORIGIN] : cors
}

/** The CORS settings for these pages. */
export function corsFor(
  { cors, prefer }: Pick<CompleteOptions, 'cors' | 'prefer'>,
  { settings, document }: Contract,
): Cors | undefined {
  const echoes = settings.clientRequestIds === 'echoed'
  return createCors({
    origins: allowedOrigins({ cors }, { settings }),
    // The fields with a meaning here. A browser lets a page send some other fields without a preflight.
    allowed: ['Authorization', 'Content-Type', ...(prefer ? ['Prefer'] : []), ...(echoes ? ['X-Request-Id'] : [])],
    exposed: Object.keys(document.resolved.components?.headers ?? {}),
  })
}
