import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { FACTS } from '../facts.ts'
import { messageOf } from '../refusals.ts'
import type { KindFacts } from '../responses.ts'
import { Form, LabelledSelect, TextField } from '../ui/form.tsx'
import { Card, Prose } from '../ui/marks.tsx'
import { showNote } from '../ui/notices.tsx'
import { codesOf, type Draft, draft, kindNamed, readRule } from './draft.ts'
import { describeRule, RuleAsCode } from './words.tsx'

const FIELDS: Readonly<Record<KindFacts['field'], string>> = {
  respond: 'Another response',
  connection: 'The connection fails',
  corrupt: 'A wrong response',
  delay_ms: 'A delay',
  event: 'Something happens to the account',
}

/** Changes the form. An error that the chosen operation does not have is replaced. */
function change(changes: Partial<Draft>): void {
  const next = { ...draft.value, ...changes }
  const codes = codesOf(next.operation)
  if (!codes.includes(next.error)) next.error = codes[0] ?? ''
  draft.value = next
}

export function FaultForm() {
  const { operation, times, phase, rest, kind } = draft.value
  const operations = FACTS.operations.map(({ id, method, path }) => [id, `${method} ${path} · ${id}`] as const)
  async function add(): Promise<void> {
    await call('addFault', { body: readRule(draft.value) })
    showNote('The rule was added.')
    await refreshShown()
  }
  return (
    <Card id="fault-form-title" title="Add a rule">
      <Form submit="Add the rule" work={add}>
        <Kinds />
        <div class="fields">
          <Effect />
          <LabelledSelect
            label="Operation"
            none="any operation"
            values={operations}
            value={operation}
            onChoose={(chosen) => change({ operation: chosen })}
          />
          <TextField
            label="How many times (empty: always)"
            name="times"
            inputMode="numeric"
            title={FACTS.faults.fields['times']}
            value={times}
            onInput={({ currentTarget }) => change({ times: currentTarget.value })}
          />
          {kindNamed(kind)?.phase === 'either' && (
            <LabelledSelect
              label="When"
              name="phase"
              values={[
                ['before', 'before anything changes'],
                ['after', 'after the change was made'],
              ]}
              value={phase}
              onChoose={(chosen) => change({ phase: chosen })}
            />
          )}
        </div>
        <details open={rest !== ''}>
          <summary>The rest of the rule, as JSON</summary>
          <p class="soft">
            Other fields, such as <code>{'{"match": {"key": "key_1"}, "skip": 2, "probability": 0.5}'}</code>. Also{' '}
            <code>jitter_ms</code>, <code>expires_after</code>, <code>description</code>, and <code>respond</code> with{' '}
            <code>headers</code>.
          </p>
          <textarea
            aria-label="The rest of the rule"
            name="rest"
            rows={4}
            class="mono"
            spellcheck={false}
            value={rest}
            onInput={({ currentTarget }) => change({ rest: currentTarget.value })}
          />
        </details>
        <Preview />
      </Form>
    </Card>
  )
}

/** All kinds of faults, each with a sentence. */
function Kinds() {
  return (
    <fieldset>
      <legend>What goes wrong</legend>
      <div class="kinds">
        {(Object.keys(FIELDS) as KindFacts['field'][]).map((field) => (
          <div key={field}>
            <h3>{FIELDS[field]}</h3>
            {FACTS.faults.kinds
              .filter((kind) => kind.field === field)
              .map(({ name, says }) => (
                <label key={name}>
                  <input
                    type="radio"
                    name="kind"
                    value={name}
                    checked={draft.value.kind === name}
                    onChange={() => change({ kind: name })}
                  />
                  <span>
                    <strong>{name}</strong> <Prose text={says} />
                  </span>
                </label>
              ))}
          </div>
        ))}
      </div>
    </fieldset>
  )
}

/** The fields of the chosen kind. */
function Effect() {
  const { kind, error, status, body, delay_ms, operation } = draft.value
  return (
    <>
      {kind === 'error' && (
        <LabelledSelect
          label="Error"
          values={codesOf(operation)}
          value={error}
          onChoose={(chosen) => change({ error: chosen })}
        />
      )}
      {kind === 'status' && (
        <>
          <TextField
            label="Status"
            name="respond.status"
            inputMode="numeric"
            value={status}
            onInput={({ currentTarget }) => change({ status: currentTarget.value })}
          />
          <TextField
            label="Body"
            name="respond.body"
            spellcheck={false}
            value={body}
            onInput={({ currentTarget }) => change({ body: currentTarget.value })}
          />
        </>
      )}
      <TextField
        label="Delay (ms)"
        name="delay_ms"
        inputMode="numeric"
        title={FACTS.faults.fields['delay_ms']}
        value={delay_ms}
        onInput={({ currentTarget }) => change({ delay_ms: currentTarget.value })}
      />
    </>
  )
}

/** The rule as a sentence and as code, while it is written. */
function Preview() {
  try {
    const rule = readRule(draft.value)
    return (
      <>
        <p class="preview" aria-live="polite">
          {describeRule(rule)}
        </p>
        <details>
          <summary>As code</summary>
          <RuleAsCode name="the new rule" rule={rule} />
        </details>
      </>
    )
  } catch (error) {
    return <p class="preview">{messageOf(error)}</p>
  }
}
