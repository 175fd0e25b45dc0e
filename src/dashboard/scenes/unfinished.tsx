import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { formatInstant } from '../formatting.ts'
import { chosenAccount } from '../place.tsx'
import type { Snapshot } from '../responses.ts'
import { snapshots, summary } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { showNote } from '../ui/notices.tsx'
import { isOfOther, moving, telling } from './story.ts'

/** Offers to restore the account after a story whose page was closed, unless this page tells one. */
export function UnfinishedStory() {
  const count = summary.use().data?.account.snapshots ?? 0
  return count > 0 && telling.value === undefined && !moving.value ? <Offer /> : null
}

function Offer() {
  const others = (snapshots.use().data ?? []).filter(isOfOther)
  const [first] = others
  if (first === undefined) return null
  return (
    <section class="warn unfinished row" aria-label="A story that was not ended">
      <p class="grow">
        {`A story was begun in this account when its clock showed ${formatInstant(first.taken_at)}, and not ended. Its page was closed, or another page is telling it now.`}
      </p>
      <Button words="Restore the state before the story" work={() => restore(first)} />
      <Button words="Keep the present state" work={() => keep(others)} />
    </section>
  )
}

/** Restores the account to its state before a story of another page. */
async function restore({ name }: Snapshot): Promise<void> {
  const text =
    'The account becomes as it was when the story began, with its clock. What was changed since is lost. If another page is telling the story, it ends there.'
  const parameters = { account: chosenAccount.peek(), snapshot: name }
  if (!(await confirmed('Restore the state before the story?', text, 'Restore'))) return
  await call('restoreSnapshot', { parameters })
  await call('deleteSnapshot', { parameters })
  await refreshShown()
  showNote('The account is as it was before the story.')
}

/** Keeps the account as it is, and deletes the snapshots that could restore it. */
async function keep(taken: readonly Snapshot[]): Promise<void> {
  const text =
    'The account stays as it is. The snapshot with the state before the story is deleted, so there is no way back to it.'
  const account = chosenAccount.peek()
  if (!(await confirmed('Keep the present state?', text, 'Keep'))) return
  for (const { name: snapshot } of taken) await call('deleteSnapshot', { parameters: { account, snapshot } })
  await refreshShown()
}
