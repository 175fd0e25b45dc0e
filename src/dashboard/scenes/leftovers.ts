import { computed } from '@preact/signals'
import { call } from '../client.ts'
import { isOffered } from '../facts.ts'
import { readAll } from '../paging.ts'
import { createResource, refreshShown } from '../resource.ts'
import type { Snapshot } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { telling } from './telling.ts'

/** How the names of the snapshots begin that stories take. */
export const SCENE_SNAPSHOT = 'scene-'

/** The snapshots of the chosen account that stories have taken: this page, other pages, and pages that are closed. */
export const leftovers = createResource({
  async load(account): Promise<Snapshot[]> {
    if (!isOffered('listSnapshots')) return []
    const all = await readAll(
      (query) => call('listSnapshots', { parameters: { account }, query }),
      ({ snapshots }) => snapshots,
    )
    return all.filter(({ name }) => name.startsWith(SCENE_SNAPSHOT))
  },
  polled: true,
})

/** Those of other pages, the oldest first. */
export const others = computed(() => {
  const own = telling.value?.snapshot
  return (leftovers.data.value ?? []).filter(({ name }) => name !== own)
})

/** Restores the account as it was before a story that another page has begun. */
export async function restoreBefore({ name: snapshot }: Snapshot): Promise<void> {
  const parameters = { account: chosenAccount.peek(), snapshot }
  await call('restoreSnapshot', { parameters })
  await call('deleteSnapshot', { parameters })
  await refreshShown()
}

/** Keeps the account as it is, without a way back. */
export async function keepPresent(snapshots: readonly Snapshot[]): Promise<void> {
  const account = chosenAccount.peek()
  for (const { name: snapshot } of snapshots) await call('deleteSnapshot', { parameters: { account, snapshot } })
  await refreshShown()
}
