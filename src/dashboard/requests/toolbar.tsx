import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { SearchField, Select } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { restartStream } from '../exchanges.ts'
import { FACTS, PLAYS_SERVICE } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import { chosenAccount } from '../selection.ts'
import { conditions, forgetSkipped, isPaused, pause, type Scope, sayHowMany, scope, words } from './list.ts'
import type { Conditions } from './listed-request.ts'

const TOGGLES = [
  ['violation', 'Violations'],
  ['refused', 'Refused'],
  ['injected', 'Injected'],
] as const satisfies readonly (readonly [keyof Conditions, string])[]

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['account', 'This account'],
  ['none', 'No account'],
  ['all', 'All accounts'],
]

export function RequestToolbar() {
  return (
    <div class="stack no-print request-tools">
      <div class="row">
        <SearchField
          id="request-filter"
          label="Words to look for in the requests"
          placeholder="Words, such as POST 4xx invalid_domain"
          text={words}
          onKeyDown={(event) => {
            if (event.key === 'Escape') words.value = ''
          }}
        />
        <Select
          id="request-operation"
          aria-label="Operation"
          none="All operations"
          values={FACTS.operations.map(({ id }) => id)}
          value={conditions.value.operation}
          onChoose={(operation) => want({ operation })}
        />
        <Select id="request-scope" aria-label="Whose requests" values={SCOPES} chosen={scope} />
      </div>
      <div class="row">
        {TOGGLES.map(([name, title]) => (
          <Button
            key={name}
            words={title}
            aria-pressed={conditions.value[name]}
            work={() => want({ [name]: !conditions.peek()[name] })}
          />
        ))}
        <p id="request-count" class="soft grow">
          {sayHowMany()}
        </p>
        <Button
          id="request-pause"
          words={isPaused.value ? 'Go on' : 'Pause'}
          aria-pressed={isPaused}
          work={() => pause(!isPaused.peek())}
        />
        {scope.value === 'account' && (
          <Button words="Clear the journal…" id="requests-clear" kind="danger" work={clearJournal} />
        )}
      </div>
    </div>
  )
}

function want(changed: Partial<Conditions>): void {
  conditions.value = { ...conditions.peek(), ...changed }
}

/** Asks for confirmation, and removes the requests of the chosen account from the journal. */
async function clearJournal(): Promise<void> {
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
