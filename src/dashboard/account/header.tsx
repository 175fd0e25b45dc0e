import { useEffect, useRef, useState } from 'preact/hooks'
import { accounts } from '../account-data.ts'
import { Button } from '../controls/button.tsx'
import { Options } from '../controls/fields.tsx'
import { connection } from '../exchanges.ts'
import { PLAYS_SERVICE } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import { chosenAccount, DEFAULT_ACCOUNT } from '../selection.ts'
import { Tabs } from '../tabs.tsx'
import { ClockLine } from '../time/clock-section.tsx'
import { VerdictPill } from '../verdict/pill.tsx'
import { createAccount, deleteAccount, resetAccount } from './dialogs.tsx'

const STATES = {
  connecting: { words: 'Connecting', tone: '' },
  live: { words: 'Live', tone: 'good' },
  lost: { words: 'Reconnecting…', tone: 'warn' },
} as const

/** The title of the page, the state of the server and its clients, the selected account, and its views. */
export function Header() {
  const { words, tone } = STATES[connection.value]
  return (
    <header class="top">
      <div class="bar-top">
        <div class="brand">
          <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
            <path d="M12 3l8 3v6c0 4.6-3.3 7.900-8 9-4.700-1.100-8-4.400-8-9V6z" />
            <path d="M8.500 12l2.500 2.500 4.500-5" />
          </svg>
          <h1>dmarc-understudy</h1>
        </div>
        <div class="states">
          <span id="connection" class={`pill dot ${tone}`} role="status">
            {words}
          </span>
          <VerdictPill />
        </div>
        {PLAYS_SERVICE && (
          <>
            <div class="no-print">
              <ClockLine />
            </div>
            <AccountPicker />
          </>
        )}
      </div>
      <Tabs />
    </header>
  )
}

/** The selection of the account, and the actions for accounts. */
function AccountPicker() {
  const chosen = chosenAccount.value
  return (
    <div id="account-picker" class="no-print">
      <AccountChoice />
      <AccountCount />
      <Button words="New…" id="account-new" work={createAccount} />
      <Button words="Reset…" id="account-reset" work={resetAccount} />
      {chosen !== DEFAULT_ACCOUNT && <Button words="Delete…" id="account-delete" kind="danger" work={deleteAccount} />}
    </div>
  )
}

function AccountChoice() {
  const place = useRef<HTMLSelectElement>(null)
  const shown = useRef<readonly string[]>([])
  const [, redraw] = useState(0)
  const chosen = chosenAccount.value
  const ids = accounts.data.value?.ids ?? []
  // An open list must not change while the user points at it.
  if (!isOpen(place.current)) shown.current = ids
  const options = shown.current.includes(chosen) ? shown.current : [...shown.current, chosen]
  useEffect(() => {
    // The options may have been added after the value was set.
    if (place.current !== null && !isOpen(place.current)) place.current.value = chosen
  })
  const onClosed = () => redraw((times) => times + 1)
  return (
    <select
      id="account"
      aria-label="Account"
      ref={place}
      value={chosen}
      onChange={({ currentTarget }) => {
        chosenAccount.value = currentTarget.value
        onClosed()
      }}
      onBlur={onClosed}
    >
      <Options values={options} />
    </select>
  )
}

function AccountCount() {
  const count = accounts.data.value?.count ?? 0
  if (count < 2) return null
  return (
    <span id="account-count" class="soft" title={`There are ${formatCount(count, 'account')}.`}>
      of {formatNumber(count)}
    </span>
  )
}

/** Whether the list of a `<select>` is open. If the browser cannot tell, every focused list counts as open. */
function isOpen(list: HTMLSelectElement | null): boolean {
  if (list === null) return false
  try {
    return list.matches(':open')
  } catch {
    return document.activeElement === list
  }
}
