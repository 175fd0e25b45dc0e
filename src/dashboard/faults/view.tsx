import { call } from '../client.ts'
import { createSource, refreshShown } from '../data.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import { Link } from '../place.tsx'
import type { Fault, FaultSet } from '../responses.ts'
import { readAll } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Prose } from '../ui/marks.tsx'
import { showNote } from '../ui/notices.tsx'
import { kindNamed, kindOf } from './draft.ts'
import { FaultForm } from './form.tsx'
import { describeRule, RuleAsCode } from './words.tsx'

/** The fault rules of the account with their results. */
const faults = createSource({ after: 'requests' }, (account) =>
  readAll('faults', (query) => call('listFaults', { parameters: { account }, query })),
)
const faultSets = createSource({ after: 'nothing', isShared: true }, async () => (await call('listFaultSets')).sets)

export function FaultsView() {
  const loaded = faults.use()
  // The list comes first on the page, so the form would move when the list arrives.
  const isKnown = loaded.data !== undefined || loaded.failure !== undefined
  return (
    <>
      <section class="stack" aria-labelledby="faults-title">
        <div class="row">
          <h2 id="faults-title" class="grow">
            Fault rules
          </h2>
          {loaded.data !== undefined && loaded.data.length > 0 && (
            <Button words="Remove all" kind="danger" work={() => removeAll(loaded.data?.length ?? 0)} />
          )}
        </div>
        <p class="soft">
          A rule makes the service fail on purpose, to test how a client bears it. The journal marks each response of a
          rule as injected, so that nobody takes it for the behaviour of the service.
        </p>
        <Loaded of={loaded} what="the rules">
          {(list) => (
            <ul class="stack">
              {list.map((fault) => (
                <FaultCard key={fault.id} {...fault} />
              ))}
              {list.length === 0 && <li class="card empty">No rules: every response is genuine.</li>}
            </ul>
          )}
        </Loaded>
      </section>
      {isKnown && <FaultForm />}
      {isKnown && <FaultSets />}
    </>
  )
}

async function removeAll(count: number): Promise<void> {
  const text = `The ${formatCount(count, 'rule')} of this account, and what was counted for each, will be gone.`
  if (count > 1 && !(await confirmed('Remove all rules?', text, 'Remove all'))) return
  await call('clearFaults')
  await refreshShown()
}

function FaultCard({ id, set, matched, hits, state, rule }: Fault) {
  async function remove(): Promise<void> {
    await call('deleteFault', { parameters: { fault: id } })
    await refreshShown()
  }
  return (
    <li class="card stack">
      <div class="row">
        <h3 class="grow">{describeRule(rule)}</h3>
        <Badge tone={state === 'active' ? 'good' : ''}>{state}</Badge>
        <Badge title="Requests that meet the conditions of the rule">{`matched ${formatCount(matched, 'request')}`}</Badge>
        {hits === 0 ? (
          <Badge>applied 0 times</Badge>
        ) : (
          <Link view="requests" query={{ fault: id }}>
            {hits === 1 ? 'applied once' : `applied ${formatNumber(hits)} times`}
          </Link>
        )}
      </div>
      <p class="soft">
        <Prose text={kindNamed(kindOf(rule))?.says ?? ''} />
        {rule.description !== undefined && <Prose text={` ${rule.description}.`} />}
      </p>
      <div class="beside">
        <details class="grow">
          <summary>{`${id}${set === undefined ? '' : ` of the set ${set}`}, as code`}</summary>
          <RuleAsCode name={id} rule={rule} />
        </details>
        <Button words="Remove" kind="danger" work={remove} aria-label={`Remove ${id}`} />
      </div>
    </li>
  )
}

/** The built-in sets, and those in the file of the server. */
function FaultSets() {
  return (
    <section class="stack" aria-labelledby="fault-sets-title">
      <h2 id="fault-sets-title">Ready-made sets</h2>
      <Loaded of={faultSets.use()} what="the ready-made sets">
        {(sets) => (
          <ul class="columns">
            {sets.map((set) => (
              <SetCard key={set.name} {...set} />
            ))}
            {sets.length === 0 && <li class="empty">There are no ready-made sets.</li>}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

function SetCard({ name, description, rules }: FaultSet) {
  async function add(): Promise<void> {
    await call('addFaultSet', { parameters: { set: name } })
    showNote(`The set ${name} was added.`)
    await refreshShown()
  }
  return (
    <li class="card stack">
      <div class="row">
        <h3 class="grow">{name}</h3>
        <Button words="Add" work={add} aria-label={`Add the set ${name}`} />
      </div>
      <p class="soft">
        <Prose text={description} />
      </p>
      <details>
        <summary>{formatCount(rules.length, 'rule')}</summary>
        <ol class="list">
          {rules.map((rule) => (
            <li key={JSON.stringify(rule)}>{describeRule(rule)}</li>
          ))}
        </ol>
      </details>
    </li>
  )
}
