import { useSignal } from '@preact/signals'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Select } from '../controls/fields.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { Badge, Meter } from '../controls/marks.tsx'
import { formatInstant, formatNumber } from '../formatting.ts'
import { createResource } from '../resource.ts'
import type { Quota, ResponseData } from '../responses.ts'

export const quotas = createResource({
  load: (account) => call('getQuotas', { parameters: { account } }),
  tabs: ['account', 'time'],
  afterRequests: 400,
  polled: true,
})

/** The rest of each quota, and whether the service enforces quotas. */
export function Quotas() {
  return <Loaded of={quotas}>{(data) => <Remaining data={data} />}</Loaded>
}

function Remaining({ data }: { data: ResponseData['getQuotas'] }) {
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
            id="quota-key"
            aria-label="Key whose quotas are shown"
            value={shown ?? ''}
            values={named}
            onChoose={(key) => {
              wanted.value = key
            }}
          />
        )}
      </div>
      <p id="quota-note" class="soft">
        {data.enforced
          ? 'A request beyond a quota is refused until the window ends.'
          : 'Requests are counted, but none is refused: the server was started with --no-quotas.'}
        {isShared && ' The keys of the account share their quotas.'}
      </p>
      <div id="quotas" class="stack">
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

function QuotaLine({ quota }: { quota: Quota }) {
  const { bucket, limit, remaining, resets_at } = quota
  const count = `${formatNumber(remaining)} / ${formatNumber(limit)}`
  return (
    <div class="quota" title={`The window ends at ${formatInstant(resets_at)}.`}>
      <span class="mono">/{bucket}</span>
      <Meter share={remaining / limit} label={`Remaining quota of ${bucket}`} text={`${remaining} of ${limit}`} />
      <span class="count">{count}</span>
      <span class="row">
        <SetButton quota={quota} words="Use up" remaining={0} />
        <SetButton quota={quota} words="Refill" remaining={limit} />
      </span>
    </div>
  )
}

function SetButton({ quota: { key, bucket }, words, remaining }: { quota: Quota; words: string; remaining: number }) {
  async function set(): Promise<void> {
    await call('updateQuota', { body: { bucket, remaining, ...(key !== null && { key }) } })
    await quotas.refresh()
  }
  return <Button words={words} small aria-label={`${words} the quota of ${bucket}`} work={set} />
}
