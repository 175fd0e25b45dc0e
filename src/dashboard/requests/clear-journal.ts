import { call } from '../client.ts'
import { confirmed } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { restartStream } from '../exchanges.ts'
import { PLAYS_SERVICE } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import { chosenAccount } from '../selection.ts'
import { forgetSkipped } from './list.ts'

/** Asks for confirmation, and removes the requests of the chosen account from the journal. */
export async function clearJournal(): Promise<void> {
  const account = chosenAccount.peek()
  const { count } = await call('listRequests', { parameters: { account }, query: { limit: 1 } })
  const isSure = await confirmed('Clear the journal?', sayWhatIsLost(count, account), 'Clear the journal')
  if (!isSure) return
  await call('clearRequests', { parameters: { account } })
  if (account === chosenAccount.peek()) {
    forgetSkipped()
    restartStream()
  }
  await refreshShown()
  showNote(`${formatCount(count, 'request')} left the journal.`)
}

function sayWhatIsLost(count: number, account: string): string {
  const [leave, them] = count === 1 ? ['leaves', 'it'] : ['leave', 'them']
  const first = `${formatCount(count, 'request')} of the account ${account} ${leave} the journal, for all users.`
  if (!PLAYS_SERVICE) return `${first} The explanations are lost. The verdict and the coverage stay.`
  return `${first} The explanations, the way back to the account before ${them}, and the code that sends ${them} again are lost. The verdict and the coverage stay, and so does the account in its present state.`
}
