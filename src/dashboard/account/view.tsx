import { useSignal } from '@preact/signals'
import { call } from '../client.ts'
import { curlOf } from '../curl.ts'
import { refreshShown } from '../data.ts'
import { BASE_URL, FACTS } from '../facts.ts'
import { formatInstant, formatNumber } from '../formatting.ts'
import type { Account, Key, Quota, Quotas } from '../responses.ts'
import { keys, quotas, summary } from '../sources.ts'
import { Button, Copyable } from '../ui/button.tsx'
import { confirmed, showSecret } from '../ui/dialog.tsx'
import { Form, Options, Select, TextField, textOf } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card, Meter, Pairs } from '../ui/marks.tsx'
import { showFailure } from '../ui/notices.tsx'

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
    <Card id="reach-title" title="How a client reaches the service">
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

function About({ account: { id, plan, seed, fixture, created_at } }: { account: Account }) {
  const plans = FACTS.plans.includes(plan) ? FACTS.plans : [...FACTS.plans, plan]
  async function changePlan(list: HTMLSelectElement): Promise<void> {
    try {
      await call('updateAccount', { parameters: { account: id }, body: { plan: list.value } })
    } catch (error) {
      list.value = plan
      showFailure(error)
    }
    await refreshShown()
  }
  return (
    <Card id="about-title" title={`The account ${id}`}>
      <label class="inline">
        Plan
        <select value={plan} onChange={({ currentTarget }) => changePlan(currentTarget)}>
          <Options values={plans} />
        </select>
      </label>
      <p class="soft">
        The plan decides whether the account may use the API: the service refuses the keys of a plan that is too low.
      </p>
      <Pairs
        entries={[
          ['Filled from', fixture === null ? 'a fixture of its own' : `the fixture ${fixture}`],
          [
            'Seed',
            <span
              title="The number from which all figures, keys and ids derive. The same seed gives the same account."
              class="mono"
            >
              {seed}
            </span>,
          ],
          ['Created', formatInstant(created_at)],
        ]}
      />
    </Card>
  )
}

function Remaining({ data }: { data: Quotas }) {
  const wanted = useSignal<string | null>(null)
  const keys = [...new Set(data.quotas.map(({ key }) => key))]
  const shown = keys.includes(wanted.value) ? wanted.value : (keys[0] ?? null)
  const named = keys.filter((key) => key !== null)
  const isShared = keys.includes(null)
  return (
    <section class="card stack" aria-labelledby="quota-title">
      <div class="row">
        <h2 id="quota-title" class="grow">
          Remaining quotas
        </h2>
        {data.enforced ? <Badge tone="good">enforced</Badge> : <Badge tone="warn">not enforced</Badge>}
        {named.length > 1 && (
          <Select
            aria-label="Key whose quotas are shown"
            value={shown ?? ''}
            values={named}
            onChoose={(key) => (wanted.value = key)}
          />
        )}
      </div>
      <p class="soft">
        {data.enforced
          ? 'A request beyond a quota is refused until the window ends.'
          : 'Requests are counted, but none is refused: the server was started with --no-quotas.'}
        {isShared && ' The keys of the account share their quotas.'}
      </p>
      <div class="stack">
        {data.quotas
          .filter(({ key }) => key === shown)
          .map((quota) => (
            <QuotaLine key={quota.bucket} quota={quota} />
          ))}
        {data.quotas.length === 0 && <p class="soft">The account has no key, so nothing is counted.</p>}
      </div>
    </section>
  )
}

function QuotaLine({ quota: { key, bucket, limit, remaining, resets_at } }: { quota: Quota }) {
  async function set(left: number): Promise<void> {
    await call('updateQuota', { body: { bucket, remaining: left, ...(key !== null && { key }) } })
    await refreshShown()
  }
  return (
    <div class="quota" title={`The window ends at ${formatInstant(resets_at)}.`}>
      <span class="mono">/{bucket}</span>
      <Meter
        share={remaining / limit}
        label={`Remaining quota of ${bucket}`}
        text={`${formatNumber(remaining)} of ${formatNumber(limit)}`}
      />
      <span class="count">{`${formatNumber(remaining)} / ${formatNumber(limit)}`}</span>
      <span class="row">
        <Button words="Use up" small aria-label={`Use up the quota of ${bucket}`} work={() => set(0)} />
        <Button words="Refill" small aria-label={`Refill the quota of ${bucket}`} work={() => set(limit)} />
      </span>
    </div>
  )
}

/** The API keys of the account, without their secrets. */
function Keys() {
  return (
    <Card id="keys-title" title="Keys">
      <Form submit="Create a key" work={createKey}>
        <TextField label="Label of a new key" name="label" placeholder="such as: CI" />
      </Form>
      <Loaded of={keys.use()} what="the keys">
        {(list) =>
          list.length === 0 ? (
            <p class="soft">No keys, so no client can use this account.</p>
          ) : (
            <ul class="ruled">
              {list.map((key) => (
                <KeyItem key={key.id} apiKey={key} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function KeyItem({ apiKey: { id, label, created_at, disabled, in_grace } }: { apiKey: Key }) {
  async function toggle(): Promise<void> {
    await call('updateKey', { parameters: { key: id }, body: { disabled: !disabled } })
    await refreshShown()
  }
  return (
    <li class="row">
      <div class="grow">
        <strong class="mono">{id}</strong>{' '}
        {disabled ? <Badge tone="bad">disabled</Badge> : <Badge tone="good">enabled</Badge>}{' '}
        {in_grace && (
          <Badge tone="warn" title="A new key has higher quotas for a week.">
            in grace period: higher quotas
          </Badge>
        )}
        <div class="soft">{[label, `created ${formatInstant(created_at)}`].filter(Boolean).join(' · ')}</div>
      </div>
      <Button
        words={disabled ? 'Enable' : 'Disable'}
        small
        aria-label={`${disabled ? 'Enable' : 'Disable'} the key ${id}`}
        work={toggle}
      />
      <Button words="Delete" small kind="danger" aria-label={`Delete the key ${id}`} work={() => deleteKey(id)} />
    </li>
  )
}

async function createKey(fields: FormData, form: HTMLFormElement): Promise<void> {
  const label = textOf(fields, 'label').trim()
  const { key, api_key } = await call('createKey', { body: label === '' ? {} : { label } })
  form.reset()
  void refreshShown()
  await showSecret(`The key ${key.id}`, api_key)
}

async function deleteKey(id: string): Promise<void> {
  const text = 'The service refuses all requests with this key from now on. This cannot be undone.'
  if (!(await confirmed(`Delete the key ${id}?`, text, 'Delete'))) return
  await call('deleteKey', { parameters: { key: id } })
  await refreshShown()
}
