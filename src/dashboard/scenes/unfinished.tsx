import { computed, signal } from '@preact/signals'
import { isOfStory, snapshots } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { formatInstant } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { Snapshot, Story } from '../responses.ts'
import { beginStory, telling } from './story.ts'

/** Whether the story that this page told before a reload is being found. */
export const isReturning = signal(false)

/** The snapshots of stories on other or closed pages, with the oldest first. */
export const others = computed(() => {
  const own = telling.value?.snapshot
  return (snapshots.data.value ?? []).filter((each) => isOfStory(each) && each.name !== own)
})

/** Begins the story of the chosen account. Where another one is told or was not ended, it asks first. */
export async function begin(story: Story, step: number, history?: 'push' | 'replace'): Promise<void> {
  const text =
    'Another page tells a story in this account, or was closed while it did. Each story sets the account back, also for the other page.'
  if (others.peek().length > 0 && !(await confirmed('Begin beside another story?', text, 'Begin'))) return
  await beginStory(story, step, history)
}

/** Offers to restore the account after a story whose page was closed, unless this page has a story in progress. */
export function UnfinishedStory() {
  const [first] = others.value
  if (first === undefined || telling.value !== undefined || isReturning.value) return null
  return (
    <section id="unfinished-story" class="warn" aria-label="A story that was not ended">
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

/** Restores the account to its state before a story of another page. */
async function restore({ name }: Snapshot): Promise<void> {
  const text =
    'The account becomes as it was when the story began, with its clock. What was changed since is lost. If another page is telling the story, it ends there.'
  if (!(await confirmed('Restore the state before the story?', text, 'Restore'))) return
  const parameters = { account: chosenAccount.peek(), snapshot: name }
  await call('restoreSnapshot', { parameters })
  await call('deleteSnapshot', { parameters })
  await refreshShown()
  showNote('The account is as it was before the story.')
}

/** Keeps the account as it is, and deletes the snapshots that could restore it. */
async function keep(snapshots: readonly Snapshot[]): Promise<void> {
  const text =
    'The account stays as it is. The snapshot with the state before the story is deleted, so there is no way back to it.'
  if (!(await confirmed('Keep the present state?', text, 'Keep'))) return
  const account = chosenAccount.peek()
  for (const { name: snapshot } of snapshots) await call('deleteSnapshot', { parameters: { account, snapshot } })
  await refreshShown()
}
