import { computed } from '@preact/signals'
import { call } from '../client.ts'
import { readAll } from '../paging.ts'
import { createResource } from '../resource.ts'
import type { Group } from '../responses.ts'

/** The domain groups of the chosen account, in the order of their creation. */
export const groups = createResource({
  load: (account) =>
    readAll(
      (query) => call('listGroups', { parameters: { account }, query }),
      ({ groups }) => groups,
    ),
  tabs: ['domains', 'groups'],
  afterRequests: 1_000,
  changesOnly: true,
  polled: true,
})

/** Domain → its groups. */
export const groupsByDomain = computed((): ReadonlyMap<string, readonly Group[]> => {
  const found = new Map<string, Group[]>()
  for (const group of groups.data.value ?? []) {
    for (const domain of group.domains) {
      const known = found.get(domain)
      if (known === undefined) found.set(domain, [group])
      else known.push(group)
    }
  }
  return found
})
