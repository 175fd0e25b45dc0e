import { connection } from '../exchanges.ts'
import { chosenAccount } from '../selection.ts'

const STATES = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting…' } as const

/** The name of the page, what is known of the connection, and the choice of the account. */
export function Header() {
  return (
    <header class="top">
      <h1>dmarc-understudy</h1>
      <span id="connection" class="pill" role="status">
        {STATES[connection.value]}
      </span>
      <span>{chosenAccount}</span>
    </header>
  )
}
