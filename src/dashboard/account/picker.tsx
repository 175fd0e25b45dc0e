import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { formatCount, formatNumber } from '../formatting.ts'
import { chosenAccount, DEFAULT_ACCOUNT } from '../selection.ts'
import { accounts } from './accounts.ts'
import { createAccount, deleteAccount, resetAccount } from './dialogs.tsx'

/** The selection of the account, and the actions for accounts. */
export function AccountPicker() {
  const chosen = chosenAccount.value
  return (
    <div id="account-picker" class="no-print">
      <AccountChoice />
      <AccountCount />
      <Button id="account-new" work={createAccount}>
        New…
      </Button>
      <Button id="account-reset" work={resetAccount}>
        Reset…
      </Button>
      {chosen !== DEFAULT_ACCOUNT && (
        <Button id="account-delete" kind="danger" work={deleteAccount}>
          Delete…
        </Button>
      )}
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
      {options.map((id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
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
