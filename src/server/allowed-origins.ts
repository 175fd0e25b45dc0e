import type { Contract } from '../contract/contract.ts'
import { type Cors, createCors } from '../service/cors.ts'
import type { CompleteOptions } from './option-table.ts'

/** The CORS settings for these pages. */
export function corsFor({ cors }: Pick<CompleteOptions, 'cors'>, { document }: Contract): Cors | undefined {
  return createCors({
    origins: cors,
    exposed: Object.keys(document.resolved.components?.headers ?? {}),
  })
}
