import { computed } from '@preact/signals'
import { isOfStory, snapshots } from '../account-data.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { formatInstant } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { Snapshot } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { telling } from './story.ts'

/** Offers to restore the account after a story whose page was closed, unless this page has a story in progress. */
export function UnfinishedStory() {
  const [first] = others.value
  if (first === undefined || telling.value !== undefined) return null
  return (
    <section id="unfinished-story" class="warn no-print" aria-label="A story that was not ended">
      <p class="grow">
        {`A story was begun in this account when its clock showed ${formatInstant(first.taken_at)}, and not ended. Its page was closed, or another page is telling it now.`}
      </p>
      <div class="row">
        <Button words="Restore the state before the story" work={() => restore(first)} />
        <Button words="Keep the present state" work={() => keep(others.peek())} />
      </div>
    </section>
  )
}

async function restore(snapshot: Snapshot): Promise<void> {
  const text =
    'The account becomes as it was when the story began, with its clock. What was changed since is lost. If another page is telling the story, it ends there.'
  if (!(await confirmed('Restore the state before the story?', text, 'Restore'))) return
  await restoreBefore(snapshot)
  showNote('The account is as it was before the story.')
}

async function keep(snapshots: readonly Snapshot[]): Promise<void> {
  const text =
    'The account stays as it is. The snapshot with the state before the story is deleted, so there is no way back to it.'
  if (await confirmed('Keep the present state?', text, 'Keep')) await keepPresent(snapshots)
}

/** The snapshots of stories on other or closed pages, with the oldest first. */
export const others = computed(() => {
  const own = telling.value?.snapshot
  return (snapshots.data.value ?? []).filter((each) => isOfStory(each) && each.name !== own)
})

/** Restores the account to its state before a story of another page. */
async function restoreBefore({ name: snapshot }: Snapshot): Promise<void> {
  const parameters = { account: chosenAccount.peek(), snapshot }
  await call('restoreSnapshot', { parameters })
  await call('deleteSnapshot', { parameters })
  await refreshShown()
}

/** Keeps the account as it is, and deletes the snapshots that could restore it. */
async function keepPresent(snapshots: readonly Snapshot[]): Promise<void> {
  const account = chosenAccount.peek()
  for (const { name: snapshot } of snapshots) await call('deleteSnapshot', { parameters: { account, snapshot } })
  await refreshShown()
}
