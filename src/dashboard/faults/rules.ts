import { call } from '../client.ts'
import { readAll } from '../paging.ts'
import { createResource } from '../resource.ts'

const TABS = ['faults'] as const

/** The fault rules of the account with their results. They are loaded soon after each request. */
export const faults = createResource({
  load: (account) =>
    readAll(
      (query) => call('listFaults', { parameters: { account }, query }),
      (page) => page.faults,
    ),
  tabs: TABS,
  afterRequests: 150,
  polled: true,
})

/** The sets of rules that the server offers by name. */
export const faultSets = createResource({
  load: async () => (await call('listFaultSets')).sets,
  tabs: TABS,
  shared: true,
})
