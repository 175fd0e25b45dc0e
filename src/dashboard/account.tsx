import { useState } from 'preact/hooks'
import { call } from './control.ts'
import { accounts, change, createSource, keys, refreshShown, summary } from './data.ts'
import { BASE_URL, curlOf, FACTS } from './facts.ts'
import { formatCount, formatInstant } from './formatting.ts'
import { chosenAccount, DEFAULT_ACCOUNT, go } from './place.tsx'
import type { BodyOf, DataOf, Schemas } from './responses.ts'
import { Badge, Button, Card, Copyable, Meter, Pairs, showFailure, showNote } from './ui/elements.tsx'
import { ask, confirmed, type Field, Form, Select, showSecret } from './ui/forms.tsx'
import { Loaded } from './ui/loaded.tsx'

const quotas = createSource((account) => call('getQuotas', { parameters: { account } }))

/** The chosen account, and what is done with a whole account. */
export function AccountPicker() {
  const chosen = chosenAccount.value
  const ids = (accounts.use().data ?? []).map(({ id }) => id)
  return (
    <div class="row picker">
      <span class="soft late">{ids.length > 1 && formatCount(ids.length, 'account')}</span>
      <Select
        {...{ 'aria-label': 'Account', title: chosen, values: ids, value: chosen }}
        onChoose={(account) => go({ account })}
      />
      <Button words="New…" work={createAccount} />
      <Button words="Reset…" work={() => resetAccount(chosen)} />
      {chosen !== DEFAULT_ACCOUNT && <Button words="Delete…" kind="danger" work={() => deleteAccount(chosen)} />}
    </div>
  )
}

const fixtureField = (none: string): Field => ({ name: 'fixture', label: 'Fixture', values: FACTS.fixtures, none })

async function createAccount(): Promise<void> {
  const usual = 'default of the server'
  const created = await ask('A new account', {
    about: 'It has its own domains, key, clock, quotas and fault rules, and shares them with no other account.',
    fields: [
      { name: 'id', label: 'Name', placeholder: 'generated' },
      fixtureField(usual),
      {
        ...{ name: 'seed', label: 'Seed', as: 'number', placeholder: usual },
        title: 'All figures and ids derive from this number.',
      },
      { name: 'now', label: 'Time at the beginning', placeholder: 'such as 2026-01-15T09:00:00Z' },
      {
        ...{ name: 'frozen', label: 'Clock', as: 'true or false', none: usual },
        values: [
          ['false', 'running'],
          ['true', 'frozen'],
        ],
      },
    ],
    submit: 'Create',
    work: (body: BodyOf<'createAccount'>) => change('createAccount', {}, body),
  })
  if (created === undefined) return
  go({ account: created.account.id })
  await showSecret(`The account ${created.account.id}`, created.api_key)
}

async function resetAccount(account: string): Promise<void> {
  await ask(`Reset ${account}?`, {
    about:
      'The account goes back to the moment of its creation. Later keys, fault rules, records that were set by hand, requests and coverage are removed. Snapshots stay.',
    fields: [fixtureField('the one of its creation')],
    ...{ submit: 'Reset', danger: true },
    async work(body: BodyOf<'resetAccount'>) {
      await change('resetAccount', { account }, body)
      showNote(`The account ${account} was reset.`)
    },
  })
}

/** Asks for confirmation, and deletes that account, even if the user has chosen another one meanwhile. */
async function deleteAccount(account: string): Promise<void> {
  const text = 'Its state, keys, requests and snapshots are deleted. This cannot be undone.'
  if (!(await confirmed(`Delete ${account}?`, text, 'Delete'))) return
  await call('deleteAccount', { parameters: { account } })
  if (account === chosenAccount.peek()) go({ account: DEFAULT_ACCOUNT }, 'replace')
  showNote(`The account ${account} was deleted.`)
  await refreshShown()
}

export function AccountView() {
  return (
    <div class="halves">
      <div class="stack">
        <Loaded of={summary.use()} what="the account">
          {({ account, api_key: apiKey }) => (
            <>
              <Reach apiKey={apiKey} />
              <About account={account} />
            </>
          )}
        </Loaded>
      </div>
      <div class="stack">
        <Loaded of={quotas.use()} what="the quotas">
          {(data) => <Remaining data={data} />}
        </Loaded>
        <Keys />
      </div>
    </div>
  )
}

function Reach({ apiKey }: { apiKey: string | null }) {
  return (
    <Card title="How a client reaches the service">
      <h3>Base URL</h3>
      <Copyable label="Copy the base URL" text={BASE_URL} />
      <h3>API key</h3>
      {apiKey === null ? (
        <p class="soft">
          The key of this account is secret. It was shown when it was made, and the command below reads it from the
          variable <code>API_KEY</code>. You can create another key on this page.
        </p>
      ) : (
        <Copyable label="Copy the API key" text={apiKey} />
      )}
      <h3>A command to try</h3>
      <Copyable label="Copy the curl command" text={curlOf('/domains', apiKey)} />
    </Card>
  )
}

function About({ account: { id, plan, seed, fixture, created_at } }: { account: Schemas['Account'] }) {
  return (
    <Card title={`The account ${id}`}>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the select is the control. */}
      <label class="row">
        Plan
        <Select
          {...{ values: FACTS.plans, value: plan }}
          onChoose={(chosen) => change('updateAccount', { account: id }, { plan: chosen }).catch(showFailure)}
        />
      </label>
      <p class="soft">
        The plan decides whether the account may use the API: the service refuses the keys of a plan that is too low.
      </p>
      <Pairs
        entries={[
          ['Filled from', fixture === null ? 'a fixture of its own' : `the fixture ${fixture}`],
          ['Seed', <span title="All figures, keys and ids derive from this number.">{seed}</span>],
          ['Created', formatInstant(created_at)],
        ]}
      />
    </Card>
  )
}

function Remaining({ data: { quotas, enforced } }: { data: DataOf<'getQuotas'> }) {
  const [wanted, want] = useState<string | undefined>(undefined)
  const named = [...new Set(quotas.map(({ key }) => key))].filter((key) => key !== null)
  const shown = named.find((key) => key === wanted) ?? named[0] ?? null
  return (
    <Card
      title="Remaining quotas"
      beside={
        <>
          <Badge tone={enforced ? 'good' : 'warn'}>{enforced ? 'enforced' : 'not enforced'}</Badge>
          {named.length > 1 && (
            <Select aria-label="Key whose quotas are shown" value={shown ?? ''} values={named} onChoose={want} />
          )}
        </>
      }
    >
      <p class="soft">
        {enforced
          ? 'A request beyond a quota is refused until the window ends.'
          : 'Requests are counted, but none is refused: the server was started with --no-quotas.'}
        {quotas.some(({ key }) => key === null) && ' The keys of the account share their quotas.'}
      </p>
      {quotas
        .filter(({ key }) => key === shown)
        .map(({ key, bucket, limit, remaining, resets_at }) => {
          const set = (left: number) =>
            change('updateQuota', {}, { bucket, remaining: left, ...(key !== null && { key }) })
          return (
            <div key={bucket} class="meter" title={`The window ends at ${formatInstant(resets_at)}.`}>
              <Meter
                {...{ name: <code>/{bucket}</code>, label: `Remaining quota of ${bucket}` }}
                {...{ count: remaining, of: limit }}
              />
              <span class="row">
                <Button words="Use up" kind="small" aria-label={`Use up the quota of ${bucket}`} work={() => set(0)} />
                <Button
                  words="Refill"
                  kind="small"
                  aria-label={`Refill the quota of ${bucket}`}
                  work={() => set(limit)}
                />
              </span>
            </div>
          )
        })}
      {quotas.length === 0 && <p class="soft">The account has no key, so nothing is counted.</p>}
    </Card>
  )
}

function Keys() {
  async function create(body: BodyOf<'createKey'>, form: HTMLFormElement): Promise<void> {
    const { key, api_key } = await change('createKey', {}, body)
    form.reset()
    await showSecret(`The key ${key.id}`, api_key)
  }
  return (
    <Card title="Keys">
      <Form
        fields={[{ name: 'label', label: 'Label of a new key', placeholder: 'such as: CI' }]}
        submit="Create a key"
        work={create}
      />
      <Loaded of={keys.use()} what="the keys">
        {(list) => (
          <ul class="ruled">
            {list.map((key) => (
              <KeyItem key={key.id} apiKey={key} />
            ))}
            {list.length === 0 && <li class="soft">No keys, so no client can use this account.</li>}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

function KeyItem({ apiKey: { id, label, created_at, disabled, in_grace } }: { apiKey: Schemas['Key'] }) {
  async function remove(): Promise<void> {
    const text = 'The service refuses all requests with this key from now on. This cannot be undone.'
    if (await confirmed(`Delete the key ${id}?`, text, 'Delete')) await change('deleteKey', { key: id })
  }
  const [deed, state] = disabled ? ['Enable', 'disabled'] : ['Disable', 'enabled']
  return (
    <li class="row">
      <div class="grow">
        <strong class="mono">{id}</strong> <Badge tone={disabled ? 'bad' : 'good'}>{state}</Badge>{' '}
        {in_grace && <Badge tone="warn">in grace period: higher quotas</Badge>}
        <div class="soft">
          {label !== null && <bdi>{label} · </bdi>}created {formatInstant(created_at)}
        </div>
      </div>
      <Button
        words={deed}
        kind="small"
        aria-label={`${deed} the key ${id}`}
        work={() => change('updateKey', { key: id }, { disabled: !disabled })}
      />
      <Button words="Delete" kind="small danger" aria-label={`Delete the key ${id}`} work={remove} />
    </li>
  )
}
