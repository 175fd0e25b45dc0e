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
export function corsFor(options: Pick<CompleteOptions, 'cors'>, { settings, document }: Contract): Cors | undefined {
  return createCors({
    origins: allowedOrigins(options, { settings }),
    exposed: Object.keys(document.resolved.components?.headers ?? {}),
  })
}
