import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { isOffered } from '../facts.ts'
import { formatInstant } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { JournalEntry } from '../responses.ts'
import { targetOf } from './listed-request.ts'

/** How many characters of the path and query are in the confirmation. */
const LONGEST_TARGET = 200

export function RewindButton({ exchange, gone }: { exchange: JournalEntry; gone: boolean }) {
  const { account } = exchange
  if (account === null || gone || !isOffered('rewindAccount')) return null
  return (
    <div class="row no-print">
      <Button
        words="Rewind to here…"
        work={() => rewind(account, exchange)}
        title="Return the account to how it was just before this request"
      />
    </div>
  )
}

/** Asks for confirmation, and restores the account to its state just before a request. */
export async function rewind(account: string, exchange: JournalEntry): Promise<void> {
  const { method, at, request_id } = exchange
  const line = `${method} ${targetOf(exchange).slice(0, LONGEST_TARGET)}`
  const isSure = await confirmed(
    'Rewind to this request?',
    `The account ${account} returns to how it was just before ${line} at ${formatInstant(at)}: domains, groups, keys, clock, quotas and fault rules. Everything that was changed since then is lost: by this request and by later ones, also an import or a restored snapshot. The journal, the coverage and the snapshots stay, so you can rewind again, to an earlier or a later request.`,
    'Rewind',
  )
  if (!isSure) return
  await call('rewindAccount', { parameters: { account }, body: { request_id } })
  await refreshShown()
  showNote(`The account ${account} is as it was just before ${line}.`)
}
