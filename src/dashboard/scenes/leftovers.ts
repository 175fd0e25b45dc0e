import { computed } from '@preact/signals'
import { isOfStory, snapshots } from '../account/snapshots.ts'
import { call } from '../client.ts'
import { refreshShown } from '../resource.ts'
import type { Snapshot } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { telling } from './telling.ts'

/** The snapshots of stories on other or closed pages, with the oldest first. */
export const others = computed(() => {
  const own = telling.value?.snapshot
  return (snapshots.data.value ?? []).filter((each) => isOfStory(each) && each.name !== own)
})

/** Restores the account to its state before a story of another page. */
export async function restoreBefore({ name: snapshot }: Snapshot): Promise<void> {
  const parameters = { account: chosenAccount.peek(), snapshot }
  await call('restoreSnapshot', { parameters })
  await call('deleteSnapshot', { parameters })
  await refreshShown()
}

/** Keeps the account as it is, and deletes the snapshots that could restore it. */
export async function keepPresent(snapshots: readonly Snapshot[]): Promise<void> {
  const account = chosenAccount.peek()
  for (const { name: snapshot } of snapshots) await call('deleteSnapshot', { parameters: { account, snapshot } })
  await refreshShown()
}
