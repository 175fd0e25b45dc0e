import { useEffect, useRef, useState } from 'preact/hooks'
import { createAccount, deleteAccount, resetAccount } from './account/change.tsx'
import { PLAYS_SERVICE } from './facts.ts'
import { formatCount } from './formatting.ts'
import { connection } from './live.ts'
import { chosenAccount, DEFAULT_ACCOUNT, go } from './place.tsx'
import { accounts } from './sources.ts'
import { ClockLine } from './time/clock.tsx'
import { Button } from './ui/button.tsx'
import { Options } from './ui/form.tsx'
import { VerdictPill } from './verdict/verdict.tsx'
import { Navigation } from './views.tsx'

const STATES = {
  connecting: { words: 'Connecting', tone: '' },
  live: { words: 'Live', tone: 'good' },
  lost: { words: 'Reconnecting…', tone: 'warn' },
} as const

export function Header() {
  const { words, tone } = STATES[connection.value]
  return (
    <header class="top">
      <div class="row">
        <div class="brand">
          <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
            <path d="M12 3l8 3v6c0 4.6-3.3 7.900-8 9-4.700-1.100-8-4.400-8-9V6z" />
            <path d="M8.500 12l2.500 2.500 4.500-5" />
          </svg>
          <h1>dmarc-understudy</h1>
        </div>
        <span class={`pill dot ${tone}`} role="status">
          {words}
        </span>
        <VerdictPill />
        <span class="grow" />
        {PLAYS_SERVICE && <AccountPicker />}
      </div>
      <div class="row lower">
        <Navigation />
        {PLAYS_SERVICE && <ClockLine />}
      </div>
    </header>
  )
}

function AccountPicker() {
  const chosen = chosenAccount.value
  const ids = accounts.use().data ?? []
  return (
    <div class="row picker">
      <span class="soft count">{ids.length > 1 && formatCount(ids.length, 'account')}</span>
      <AccountChoice ids={ids} chosen={chosen} />
      <Button words="New…" work={createAccount} />
      <Button words="Reset…" work={() => resetAccount(chosen)} />
      {chosen !== DEFAULT_ACCOUNT && <Button words="Delete…" kind="danger" work={() => deleteAccount(chosen)} />}
    </div>
  )
}

function AccountChoice({ ids, chosen }: { ids: readonly string[]; chosen: string }) {
  const place = useRef<HTMLSelectElement>(null)
  const shown = useRef<readonly string[]>([])
  const [, redraw] = useState(0)
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
      aria-label="Account"
      title={chosen}
      ref={place}
      value={chosen}
      onChange={({ currentTarget }) => {
        go({ account: currentTarget.value })
        onClosed()
      }}
      onBlur={onClosed}
    >
      <Options values={options} />
    </select>
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
