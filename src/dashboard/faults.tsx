import { useState } from 'preact/hooks'
import { call, readToken } from './control.ts'
import { change, createSource, faults } from './data.ts'
import { FACTS, quoteWord } from './facts.ts'
import { type Draft, describeRule, kindNamed, kindOf, readRule } from './fault-rule.ts'
import { formatCount, formatJson, formatNumber } from './formatting.ts'
import { chosenAccount, Link, parameter, ROOT } from './place.tsx'
import { messageOf } from './refusals.ts'
import type { DataOf, Schemas } from './responses.ts'
import { Badge, Button, Card, Copyable, Prose, showNote } from './ui/elements.tsx'
import { confirmed, type Field, Form } from './ui/forms.tsx'
import { Loaded } from './ui/loaded.tsx'

const faultSets = createSource(async () => (await call('listFaultSets')).sets, { isShared: true, isStill: true })

/** The operation that the form begins with. */
const operation = parameter('operation')

export function FaultsView() {
  const loaded = faults.use()
  const rules = loaded.data ?? []
  return (
    <>
      <Card
        {...{ title: 'Fault rules', class: '' }}
        beside={rules.length > 0 && <Button words="Remove all" kind="danger" work={() => removeAll(rules.length)} />}
      >
        <p class="soft">
          A rule makes the service fail on purpose, to test how a client bears it. The journal marks each response of a
          rule as injected, so that nobody takes it for the behaviour of the service.
        </p>
        <Loaded of={loaded} what="the rules">
          {() => (
            <ul class="stack">
              {rules.map((fault) => (
                <FaultCard key={fault.id} {...fault} />
              ))}
              {rules.length === 0 && <li class="card empty">No rules: every response is genuine.</li>}
            </ul>
          )}
        </Loaded>
      </Card>
      {/* The list comes first on the page, so the form would move when the list arrives. */}
      {loaded.data !== undefined && <FaultForm key={operation.value} />}
      {loaded.data !== undefined && <FaultSets />}
    </>
  )
}

async function removeAll(count: number): Promise<void> {
  const text = `The ${formatCount(count, 'rule')} of this account, and what was counted for each, will be gone.`
  if (count > 1 && !(await confirmed('Remove all rules?', text, 'Remove all'))) return
  await change('clearFaults')
}

function FaultCard({ id, set, matched, hits, state, rule }: Schemas['Fault']) {
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
        <Button
          words="Remove"
          kind="danger"
          aria-label={`Remove ${id}`}
          work={() => change('deleteFault', { fault: id })}
        />
      </div>
      <p class="soft">
        <Prose text={kindOf(rule)?.says ?? ''} />
        {rule.description !== undefined && <Prose text={` ${rule.description}.`} />}
      </p>
      <details>
        <summary>{`${id}${set === undefined ? '' : ` of the set ${set}`}, as code`}</summary>
        <div class="stack">
          <Copyable text={curlOfRule(rule)} label={`Copy ${id} as curl`} />
          <Copyable text={`await account.faults.add(${formatJson(rule)})`} label={`Copy ${id} as code of a test`} />
        </div>
      </details>
    </li>
  )
}

function curlOfRule(rule: Schemas['FaultRule']): string {
  const token = readToken() === null ? '' : ' -H "Authorization: Bearer $ADMIN_TOKEN"'
  const url = `${location.origin}${ROOT}/accounts/${encodeURIComponent(chosenAccount.value)}/faults`
  return `curl -sS${token} --json ${quoteWord(JSON.stringify(rule))} ${quoteWord(url)}`
}

/** The error codes of the operation, or of all operations if none is chosen. */
function codesOf(operation: string | undefined): string[] {
  const chosen = FACTS.operations.filter(({ id }) => !operation || id === operation)
  return [...new Set(chosen.flatMap(({ codes }) => codes))].sort()
}

function FaultForm() {
  const begun = operation.value === '' ? {} : { 'match.operation': operation.value }
  const [written, write] = useState<Draft>({ kind: 'error', 'respond.error': 'rate_limited', times: 1, ...begun })
  const codes = codesOf(written['match.operation'])
  // An error that the chosen operation does not have is replaced.
  const error = codes.find((code) => code === written['respond.error']) ?? codes[0] ?? ''
  const draft = { 'respond.status': 503, ...written, 'respond.error': error }
  const fields = fieldsOf(draft, codes)
  return (
    <Card title="Add a rule">
      <Form
        fields={fields}
        submit="Add the rule"
        onChange={write}
        work={async (rule: Draft) => {
          await change('addFault', {}, readRule(rule))
          showNote('The rule was added.')
        }}
        below={
          <>
            <p class="soft">
              <Prose text={kindNamed(draft.kind)?.says ?? ''} />
            </p>
            <p class="preview" aria-live="polite">
              {preview(draft, fields)}
            </p>
          </>
        }
      />
    </Card>
  )
}

function fieldsOf(draft: Draft, codes: readonly string[]): Field[] {
  const { kind, 'match.operation': operation, 'respond.error': error } = draft
  const { times, delay_ms } = FACTS.faults.fields
  const choices: (Field | false)[] = [
    {
      ...{ name: 'kind', label: 'What goes wrong', value: kind },
      values: FACTS.faults.kinds.map(({ name }) => name),
    },
    {
      ...{ name: 'match.operation', label: 'Operation', none: 'any operation', value: operation },
      values: FACTS.operations.map(({ id, method, path }) => [id, `${method} ${path} · ${id}`]),
    },
    kind === 'error' && { name: 'respond.error', label: 'Error', values: codes, value: error },
    kind === 'status' && { name: 'respond.status', label: 'Status', as: 'number', value: 503 },
    kind === 'status' && { name: 'respond.body', label: 'Body' },
    { name: 'delay_ms', label: 'Delay (ms)', as: 'number', title: delay_ms },
    { name: 'times', label: 'How many times (empty: always)', as: 'number', value: 1, title: times },
    kindNamed(kind)?.phase === 'either' && {
      ...{ name: 'phase', label: 'When', value: 'before' },
      values: [
        ['before', 'before the change'],
        ['after', 'after the change'],
      ],
    },
    {
      ...{ name: 'rest', label: 'The rest of the rule', as: 'json' },
      placeholder: '{"match": {"key": "key_1"}, "skip": 2, "probability": 0.5}',
    },
  ]
  return choices.filter((field) => field !== false)
}

/** The rule as a sentence, while it is written. The draft may have values of fields that another kind has. */
function preview(draft: Draft, fields: readonly Field[]): string {
  const shown = fields.flatMap(({ name }) => (draft[name] === undefined ? [] : [[name, draft[name]]]))
  try {
    return describeRule(readRule(Object.fromEntries(shown)))
  } catch (error) {
    return messageOf(error)
  }
}

function FaultSets() {
  return (
    <Card title="Ready-made sets" class="">
      <Loaded of={faultSets.use()} what="the ready-made sets">
        {(sets) => (
          <ul class="columns">
            {sets.map((set) => (
              <SetCard key={set.name} {...set} />
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

function SetCard({ name, description, rules }: DataOf<'listFaultSets'>['sets'][number]) {
  async function add(): Promise<void> {
    await change('addFaultSet', { set: name })
    showNote(`The set ${name} was added.`)
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
        <ol class="quotes">
          {rules.map((rule) => (
            <li key={JSON.stringify(rule)}>{describeRule(rule)}</li>
          ))}
        </ol>
      </details>
    </li>
  )
}
