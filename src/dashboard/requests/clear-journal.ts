import { call } from '../client.ts'
import { confirmed } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { restartStream } from '../exchanges.ts'
import { formatCount } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import { chosenAccount } from '../selection.ts'
import { forgetSkipped } from './list.ts'

/** Asks, and then removes the requests of the chosen account from the journal. */
export async function clearJournal(): Promise<void> {
  const account = chosenAccount.peek()
  const { count } = await call('listRequests', { parameters: { account }, query: { limit: 1 } })
  const isSure = await confirmed(
    'Clear the journal?',
    `${formatCount(count, 'request')} of the account ${account} ${count === 1 ? 'leaves' : 'leave'} the journal, for everybody. Lost with ${count === 1 ? 'it are its explanation, the state before it (so the way back to it) and the code that reproduces it' : 'them are their explanations, the states before them (so the way back to them) and the code that reproduces them'}. The verdict and the coverage stay, and so does the account as it is now.`,
    'Clear the journal',
  )
  if (!isSure) return
  await call('clearRequests', { parameters: { account } })
  if (account === chosenAccount.peek()) {
    forgetSkipped()
    restartStream()
  }
  await refreshShown()
  showNote(`${formatCount(count, 'request')} left the journal.`)
}
