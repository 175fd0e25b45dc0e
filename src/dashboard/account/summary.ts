import { call } from '../client.ts'
import { createResource } from '../resource.ts'

/** The chosen account: its plan, clock and sizes, and its key if the key is not secret. */
export const summary = createResource({
  load: (account) => call('getAccount', { parameters: { account } }),
  afterRequests: 400,
  changesOnly: true,
  polled: true,
})
