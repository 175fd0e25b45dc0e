import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { formatInstant } from '../formatting.ts'
import type { Snapshot } from '../responses.ts'
import { keepPresent, others, restoreBefore } from './leftovers.ts'
import { telling } from './telling.ts'

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
        <Button work={() => restore(first)}>Restore the state before the story</Button>
        <Button work={() => keep(others.peek())}>Keep the present state</Button>
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
