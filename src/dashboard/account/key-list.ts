import { call } from '../client.ts'
import { readAll } from '../paging.ts'
import { createResource } from '../resource.ts'

/** The API keys of the chosen account, without their secrets. */
export const keys = createResource({
  load: (account) =>
    readAll(
      (query) => call('listKeys', { parameters: { account }, query }),
      (page) => page.keys,
    ),
  tabs: ['account', 'faults'],
  polled: true,
})
