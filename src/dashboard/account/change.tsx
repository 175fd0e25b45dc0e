import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { FACTS } from '../facts.ts'
import { chosenAccount, DEFAULT_ACCOUNT, go } from '../place.tsx'
import type { BodyOf } from '../responses.ts'
import { confirmed, openDialog, showSecret } from '../ui/dialog.tsx'
import { type Choice, LabelledSelect, TextField, textOf } from '../ui/form.tsx'
import { showNote } from '../ui/notices.tsx'

const CLOCKS: readonly Choice[] = [
  ['false', 'running'],
  ['true', 'frozen'],
]

export async function createAccount(): Promise<void> {
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

export async function resetAccount(account: string): Promise<void> {
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
  await refreshShown()
}

/** Asks for confirmation, and deletes that account, even if the user has chosen another one meanwhile. */
export async function deleteAccount(account: string): Promise<void> {
  const text = 'Its state, keys, requests and snapshots are deleted. This cannot be undone.'
  if (!(await confirmed(`Delete ${account}?`, text, 'Delete'))) return
  await call('deleteAccount', { parameters: { account } })
  if (account === chosenAccount.peek()) go({ account: DEFAULT_ACCOUNT }, 'replace')
  showNote(`The account ${account} was deleted.`)
  await refreshShown()
}

function FixtureChoice({ usual }: { usual: string }) {
  return <LabelledSelect label="Fixture" name="fixture" none={usual} values={FACTS.fixtures} />
}
