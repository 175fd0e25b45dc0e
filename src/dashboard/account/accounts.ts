import type { PageQuery } from '../calls.ts'
import { call } from '../client.ts'
import { FACTS } from '../facts.ts'
import { readAll } from '../paging.ts'
import { createResource } from '../resource.ts'

interface Known {
  ids: readonly string[]
  count: number
}

/** The names of all accounts, in the order of their creation. */
export const accounts = createResource<Known>({ load: loadAccounts, polled: true, shared: true })

async function loadAccounts(): Promise<Known> {
  const listPage = (query: PageQuery) => call('listAccounts', { query })
  const first = await listPage({ limit: FACTS.pageLimit })
  const ids = first.accounts.map(({ id }) => id)
  const known = accounts.data.peek()
  // There may be thousands of accounts, and the page asks every few seconds.
  const isKnown = known?.count === first.count && ids.every((id, index) => id === known.ids[index])
  if (isKnown) return known
  if (first.next === null) return { ids, count: first.count }
  const all = await readAll(listPage, (page) => page.accounts)
  return { ids: all.map(({ id }) => id), count: all.length }
}
