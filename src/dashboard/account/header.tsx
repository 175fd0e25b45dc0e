import { useEffect, useRef, useState } from 'preact/hooks'
import { accounts } from '../account-data.ts'
import { chosenAccount, DEFAULT_ACCOUNT, go } from '../address.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed, openDialog, showSecret } from '../controls/dialog.tsx'
import { type Choice, LabelledSelect, Options, TextField, textOf } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { connection, restartStream } from '../exchanges.ts'
import { FACTS, PLAYS_SERVICE } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { BodyOf } from '../responses.ts'
import { Tabs } from '../tabs.tsx'
import { ClockLine } from '../time/clock.tsx'
import { VerdictPill } from '../verdict/verdict.tsx'

const STATES = {
  connecting: { words: 'Connecting', tone: '' },
  live: { words: 'Live', tone: 'good' },
  lost: { words: 'Reconnecting…', tone: 'warn' },
} as const

const CLOCKS: readonly Choice[] = [
  ['false', 'running'],
  ['true', 'frozen'],
]

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
          <span class="connection-place">
            <span id="connection" class={`pill dot ${tone}`} role="status">
              {words}
            </span>
          </span>
          <VerdictPill />
        </div>
        {PLAYS_SERVICE && <AccountPicker />}
      </div>
      <div class="bar-tabs">
        <Tabs />
        {PLAYS_SERVICE && (
          <div class="clock-place">
            <ClockLine />
          </div>
        )}
      </div>
    </header>
  )
}

function AccountPicker() {
  const chosen = chosenAccount.value
  const count = accounts.data.value?.count ?? 0
  return (
    <div id="account-picker">
      <span id="account-count" class="soft">
        {count > 1 ? formatCount(count, 'account') : ''}
      </span>
      <AccountChoice />
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

async function createAccount(): Promise<void> {
  const usual = 'default of the server'
  const content = (
    <>
      <p class="soft">
        The account has its own domains, key, clock, quotas and fault rules. It shares them with no other account.
      </p>
      <div class="fields">
        <TextField label="Name" name="id" placeholder="generated" spellcheck={false} />
        <FixtureChoice usual={usual} />
        <TextField
          label="Seed"
          title="All figures and ids derive from this number."
          name="seed"
          inputMode="numeric"
          placeholder={usual}
        />
        <TextField
          label="Time at the beginning"
          name="now"
          placeholder="such as 2026-01-15T09:00:00Z"
          spellcheck={false}
        />
        <LabelledSelect label="Clock" name="frozen" none={usual} values={CLOCKS} />
      </div>
    </>
  )
  const created = await openDialog('A new account', content, {
    submit: 'Create',
    work: (fields) => call('createAccount', { body: readNewAccount(fields) }),
  })
  if (created === undefined) return
  const { id } = created.account
  go({ account: id })
  accounts.refresh().catch(() => undefined)
  await showSecret(`The account ${id}`, created.api_key)
}

function readNewAccount(fields: FormData): BodyOf<'createAccount'> {
  const { seed, frozen, ...texts } = Object.fromEntries(
    [...fields.keys()].map((name) => [name, textOf(fields, name).trim()]).filter(([, text]) => text !== ''),
  )
  // JSON has no NaN. An invalid seed is sent unchanged, because the control plane returns the error message.
  const number = Number.isNaN(Number(seed)) ? (seed as never) : Number(seed)
  return { ...texts, ...(seed && { seed: number }), ...(frozen && { frozen: frozen === 'true' }) }
}

async function resetAccount(): Promise<void> {
  const account = chosenAccount.peek()
  const content = (
    <>
      <p>
        The account goes back to the moment of its creation. Later keys, fault rules, records that were set by hand,
        requests and coverage are removed. Snapshots stay.
      </p>
      <FixtureChoice usual="the one of its creation" />
    </>
  )
  const done = await openDialog(`Reset ${account}?`, content, {
    submit: 'Reset',
    danger: true,
    async work(fields) {
      const fixture = textOf(fields, 'fixture')
      await call('resetAccount', { parameters: { account }, body: fixture === '' ? {} : { fixture } })
      return true
    },
  })
  if (done === undefined) return
  showNote(`The account ${account} was reset.`)
  if (account !== chosenAccount.peek()) return
  restartStream()
  await refreshShown()
}

/** Asks for confirmation, and deletes that account, even if the user has chosen another one meanwhile. */
async function deleteAccount(): Promise<void> {
  const account = chosenAccount.peek()
  const text = 'Its state, keys, requests and snapshots are deleted. This cannot be undone.'
  if (!(await confirmed(`Delete ${account}?`, text, 'Delete'))) return
  await call('deleteAccount', { parameters: { account } })
  if (account === chosenAccount.peek()) go({ account: DEFAULT_ACCOUNT }, 'replace')
  showNote(`The account ${account} was deleted.`)
  await accounts.refresh()
}

function FixtureChoice({ usual }: { usual: string }) {
  return <LabelledSelect label="Fixture" name="fixture" none={usual} values={FACTS.fixtures} />
}
