import { accounts } from '../account-data.ts'
import { call } from '../client.ts'
import { confirmed, openDialog, showSecret } from '../controls/dialog.tsx'
import { type Choice, LabelledSelect, TextField } from '../controls/fields.tsx'
import { textOf } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { restartStream } from '../exchanges.ts'
import { FACTS } from '../facts.ts'
import { refreshShown } from '../resource.ts'
import { chosenAccount, DEFAULT_ACCOUNT } from '../selection.ts'

const CLOCKS: readonly Choice[] = [
  ['false', 'running'],
  ['true', 'frozen'],
]

/** Shows a form for a new account, creates the account, selects it and shows its key. */
export async function createAccount(): Promise<void> {
  const usual = 'default of the server'
  const content = (
    <>
      <p class="soft">
        The account has its own state, key, clock, quotas and faults. It shares them with no other account.
      </p>
      <div class="fields">
        <TextField label="Name" name="id" placeholder="generated" spellcheck={false} />
        <FixtureChoice usual={usual} />
        <TextField label="Seed" name="seed" inputMode="numeric" placeholder={usual} />
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
  chosenAccount.value = id
  accounts.refresh().catch(() => undefined)
  await showSecret(`The account ${id}`, created.api_key)
}

/** The fields with a value. An invalid seed is sent unchanged, because the control plane returns the error message. */
function readNewAccount(fields: FormData) {
  const [id, fixture, seed, now, frozen] = ['id', 'fixture', 'seed', 'now', 'frozen'].map((name) =>
    textOf(fields, name).trim(),
  )
  return {
    ...(id && { id }),
    ...(fixture && { fixture }),
    ...(seed && { seed: readNumber(seed) }),
    ...(now && { now }),
    ...(frozen && { frozen: frozen === 'true' }),
  }
}

function readNumber(text: string): number {
  const number = Number(text)
  // JSON has no NaN.
  return Number.isNaN(number) ? (text as never) : number
}

/** Asks for confirmation, and resets the chosen account to its creation. */
export async function resetAccount(): Promise<void> {
  const account = chosenAccount.peek()
  const content = (
    <>
      <p>
        The account goes back to the moment of its creation. Later keys, faults, pins, requests and coverage are
        removed. Snapshots stay.
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
export async function deleteAccount(): Promise<void> {
  const account = chosenAccount.peek()
  const text = 'Its state, keys, requests and snapshots are deleted. This cannot be undone.'
  if (!(await confirmed(`Delete ${account}?`, text, 'Delete'))) return
  await call('deleteAccount', { parameters: { account } })
  if (account === chosenAccount.peek()) chosenAccount.value = DEFAULT_ACCOUNT
  showNote(`The account ${account} was deleted.`)
  await accounts.refresh()
}

function FixtureChoice({ usual }: { usual: string }) {
  return <LabelledSelect label="Fixture" name="fixture" none={usual} values={FACTS.fixtures} />
}
