import type { Account } from './account.ts'
import type { Model } from './model.ts'

/** What is asked of the control plane about one account. */
export interface Deed {
  operation: string
  parameters: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: the commands send what the document asks for
  body: any
}

/** What the control plane must answer. */
export interface AdminExpected {
  status: number
  code?: string
  data?: unknown
  /** What is remarkable about it, for the statistics. */
  turn?: string | undefined
  /** Takes note of what is the service's to choose. */
  // biome-ignore lint/suspicious/noExplicitAny: the data whose shape the document has just validated
  learn?(data: any): void
}

export type Perform = (account: Account, deed: Deed, model: Model) => AdminExpected

export const done = (data: unknown = {}): AdminExpected => ({ status: 200, data })
export const refused = (status: number, code: string): AdminExpected => ({ status, code })
export const notFound = refused(404, 'not_found')
export const invalid = refused(400, 'invalid_value')
export const taken = refused(409, 'taken')
