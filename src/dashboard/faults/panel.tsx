import { faultSets, faults } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { Link } from '../controls/link.tsx'
import { Loaded, useAnswer } from '../controls/loaded.tsx'
import { Badge, Prose } from '../controls/marks.tsx'
import { showNote } from '../controls/notices.tsx'
import { formatCount, formatInstant, formatNumber } from '../formatting.ts'
import type { Fault, FaultSet } from '../responses.ts'
import { FaultForm } from './form.tsx'
import { describeRule, kindOf, RuleAsCode } from './words.tsx'

const LAST_REQUESTS = 5

export function FaultsPanel() {
  // The list comes first on the page, so the form would move when the list arrives.
  const isListed = faults.data.value !== undefined || faults.failure.value !== undefined
  return (
    <>
      <FaultList />
      {isListed && <FaultForm />}
      {isListed && <FaultSets />}
    </>
  )
}

function FaultList() {
  const rules = faults.data.value
  return (
    <section class="stack" aria-labelledby="faults-title">
      <div class="row">
        <h2 id="faults-title" class="grow">
          Fault rules
        </h2>
        {rules !== undefined && rules.length > 0 && (
          <Button words="Remove all" id="faults-clear" kind="danger" work={() => removeAll(rules)} />
        )}
      </div>
      <p class="soft">
        A rule makes the service fail on purpose, to test how a client bears it. The journal marks each response of a
        rule as injected, so that nobody takes it for the behaviour of the service.
      </p>
      <Loaded of={faults} what="the rules">
        {(list) => (
          <ul id="faults" class="stack">
            {list.map((fault) => (
              <FaultCard key={`${chosenAccount.value} ${fault.id}`} {...fault} />
            ))}
            {list.length === 0 && <li class="card empty">No rules: every response is genuine.</li>}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

async function removeAll(rules: readonly Fault[]): Promise<void> {
  const text = `The ${formatCount(rules.length, 'rule')} of this account, and what was counted for each, will be gone.`
  if (rules.length > 1 && !(await confirmed('Remove all rules?', text, 'Remove all'))) return
  await call('clearFaults')
  await faults.refresh()
}

function FaultCard({ id, set, matched, hits, state, rule }: Fault) {
  async function remove(): Promise<void> {
    await call('deleteFault', { parameters: { fault: id } })
    await faults.refresh()
  }
  return (
    <li class="card stack" data-fault={id}>
      <div class="row">
        <h3 class="fault-title grow">{describeRule(rule)}</h3>
        <Badge tone={state === 'active' ? 'good' : ''}>{state}</Badge>
        <Badge title="Requests that meet the conditions of the rule">{`matched ${formatCount(matched, 'request')}`}</Badge>
        <Badge tone={hits > 0 ? 'odd' : ''}>
          {hits === 1 ? 'applied once' : `applied ${formatNumber(hits)} times`}
        </Badge>
      </div>
      <p class="soft">
        <Prose text={kindOf(rule)?.says ?? ''} />
        {rule.description !== undefined && <Prose text={` ${rule.description}.`} />}
      </p>
      <LastRequests fault={id} hits={hits} />
      <div class="row">
        <details class="grow">
          <summary>{`${id}${set === undefined ? '' : ` of the set ${set}`}, as code`}</summary>
          <RuleAsCode name={id} rule={rule} />
        </details>
        <Button words="Remove" kind="danger" work={remove} aria-label={`Remove ${id}`} />
      </div>
    </li>
  )
}

/** The newest requests on which a rule acted. They are loaded again when it acts again. */
function LastRequests({ fault, hits }: { fault: string; hits: number }) {
  const query = { limit: LAST_REQUESTS, fault }
  const load = (signal: AbortSignal) => call('listRequests', { query, signal })
  const { data, failure } = useAnswer([fault, hits], hits === 0 ? undefined : load)
  if (hits > 0 && data === undefined && failure === undefined) return <Place rows={Math.min(hits, LAST_REQUESTS)} />
  // The rule or the journal may be removed in the meantime.
  if (hits === 0 || data === undefined || data.requests.length === 0) return null
  return (
    <ul class="fault-requests" aria-label={`The last requests of ${fault}`}>
      {data.requests.toReversed().map(({ request_id: id, method, path, status, code, at, fault: injection }) => (
        <li key={id} data-request={id}>
          <Link class="mono" to={{ tab: 'requests', subject: id }}>{`${method} ${path}`}</Link>
          <span>{status === null ? 'no response' : [status, code].filter(Boolean).join(' ')}</span>
          <span class="soft">{[formatInstant(at), injection?.effect].filter(Boolean).join(' · ')}</span>
        </li>
      ))}
    </ul>
  )
}

/** The place of the last requests until they arrive, so that nothing moves then. */
function Place({ rows }: { rows: number }) {
  return (
    <ul class="fault-requests" aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        <li key={row} />
      ))}
    </ul>
  )
}

/** The built-in sets, and those in the file of the server. */
function FaultSets() {
  return (
    <section class="stack" aria-labelledby="fault-sets-title">
      <h2 id="fault-sets-title">Ready-made sets</h2>
      <Loaded of={faultSets} what="the ready-made sets">
        {(sets) => (
          <ul id="fault-sets" class="fault-cards">
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
    await faults.refresh()
  }
  return (
    <li class="card stack">
      <div class="row">
        <h3 class="fault-title grow">{name}</h3>
        <Button words="Add" work={add} aria-label={`Add the set ${name}`} />
      </div>
      <p class="soft">
        <Prose text={description} />
      </p>
      <details>
        <summary>{formatCount(rules.length, 'rule')}</summary>
        <ol class="fault-words">
          {rules.map((rule) => (
            <li>{describeRule(rule)}</li>
          ))}
        </ol>
      </details>
    </li>
  )
}
