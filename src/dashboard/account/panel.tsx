import { summary } from '../account-data.ts'
import { call } from '../client.ts'
import { Copyable } from '../controls/copyable.tsx'
import { Options } from '../controls/fields.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { Pairs } from '../controls/marks.tsx'
import { showFailure } from '../controls/notices.tsx'
import { BASE_URL, FACTS } from '../facts.ts'
import { formatInstant } from '../formatting.ts'
import type { Account } from '../responses.ts'
import { authorizeCurl } from '../shell.ts'
import { Keys } from './keys.tsx'
import { Quotas } from './quotas.tsx'

/** The view Account: how a client reaches the service, and what it may do. */
export function AccountPanel() {
  return (
    <div class="halves">
      <div class="stack">
        <Loaded of={summary}>
          {({ account, api_key: apiKey }) => (
            <>
              <Reach apiKey={apiKey} />
              <About account={account} />
            </>
          )}
        </Loaded>
      </div>
      <div class="stack">
        <Quotas />
        <Keys />
      </div>
    </div>
  )
}

function Reach({ apiKey }: { apiKey: string | null }) {
  return (
    <section class="card stack" aria-labelledby="reach-title">
      <h2 id="reach-title">How a client reaches the service</h2>
      <h3>Base URL</h3>
      <Copyable id="base-url" label="Copy the base URL" text={BASE_URL} />
      <h3>API key</h3>
      {apiKey === null ? (
        <p id="api-key" class="soft">
          The key of this account is secret. It was shown when it was made, and the command below reads it from the
          variable <code>API_KEY</code>. You can create another key on this page.
        </p>
      ) : (
        <Copyable id="api-key" label="Copy the API key" text={apiKey} />
      )}
      <h3>A command to try</h3>
      <Copyable
        id="curl-line"
        label="Copy the curl command"
        text={`curl -sS ${authorizeCurl(apiKey)} ${BASE_URL}/domains`}
      />
    </section>
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
    await summary.refresh().catch(() => undefined)
  }
  return (
    <section class="card stack" aria-labelledby="about-title">
      <h2 id="about-title">The account {id}</h2>
      <label class="inline">
        Plan
        <select id="plan" value={plan} onChange={({ currentTarget }) => changePlan(currentTarget)}>
          <Options values={plans} />
        </select>
      </label>
      <p class="soft">The service refuses the keys of an account whose plan is too low.</p>
      <Pairs
        entries={[
          ['Fixture', fixture ?? 'none by name'],
          ['Seed', <span class="mono">{seed}</span>],
          ['Created', formatInstant(created_at)],
        ]}
      />
    </section>
  )
}
