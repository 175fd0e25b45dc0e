import type { ComponentChildren } from 'preact'
import { faults, keys } from '../account-data.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { type Choice, Form, LabelledSelect, TextField } from '../controls/form.tsx'
import { Card, Prose } from '../controls/marks.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { codesOf, type Draft, draft, type Family, kindIn, OFTEN, PRESETS, proposeRule, readRule } from './draft.ts'
import { describeRule, RuleAsCode } from './words.tsx'

const FAMILIES: Readonly<Record<Family, string>> = {
  error: 'An error of the service',
  status: 'Another response',
  connection: 'The connection fails',
  corrupt: 'A wrong response',
  delay_ms: 'A delay',
  event: 'Something happens to the account',
}
const CONTENT_TYPES = ['application/json', 'text/html', 'text/plain']

/** Changes the form. Values that the chosen operation does not support are replaced. */
function change(changes: Partial<Draft>): void {
  const next = { ...draft.value, ...changes }
  const codes = codesOf(next['match.operation'])
  if (!codes.includes(next['respond.error'])) next['respond.error'] = codes[0] ?? ''
  draft.value = next
}

export function FaultForm() {
  const rule = readRule(draft.value)
  const operations = FACTS.operations.map(({ id, method, path }) => [id, `${method} ${path} · ${id}`] as const)
  const labels = (keys.data.value ?? []).map(({ id, label }): Choice => [id, label === null ? id : `${label} · ${id}`])
  async function add(): Promise<void> {
    await call('addFault', { body: readRule(draft.value) })
    showNote('The rule was added.')
    await faults.refresh()
  }
  return (
    <Card id="fault-form-title" title="Add a rule">
      <fieldset>
        <legend>Usual rules</legend>
        <div class="row fault-presets">
          {PRESETS.map((preset) => (
            <Button words={preset.title} work={() => proposeRule(preset.rule)} />
          ))}
        </div>
      </fieldset>
      <Form id="fault-form" submit="Add the rule" work={add}>
        <Choices legend="What goes wrong" name="family" values={Object.entries(FAMILIES)} />
        <Effect />
        <div class="fields">
          <Choosing name="match.operation" title="Operation" values={operations} none="any operation" />
          <Choosing name="match.key" title="Key" values={labels} none="any key" />
        </div>
        <Choices legend="How often" name="often" values={OFTEN}>
          {draft.value.often === 'n times' && <Text name="times" title="Times" kind="number" />}
        </Choices>
        {kindIn(draft.value)?.phase === 'either' && (
          <Choices legend="When" name="phase" values={Object.entries(FACTS.faults.phases)} isExplained />
        )}
        <details>
          <summary>More conditions</summary>
          <div class="fields">
            <Text name="skip" title="Requests before it acts" kind="number" />
            <Text name="probability" title="Probability (0–1)" kind="number" />
            {draft.value.family !== 'delay_ms' && <Delay />}
            <Text name="expires_after" title="Ends after (such as PT1H)" />
            <Text name="description" title="Description" />
          </div>
        </details>
        <p class="fault-preview" aria-live="polite">
          {describeRule(rule)}
        </p>
        <details>
          <summary>As code</summary>
          <RuleAsCode name="the new rule" rule={rule} />
        </details>
      </Form>
    </Card>
  )
}

function Effect() {
  const { family } = draft.value
  if (family !== 'error' && family !== 'status' && family !== 'delay_ms') {
    const kinds = FACTS.faults.kinds.filter(({ field }) => field === family)
    return <Choices legend="Which way" name={family} values={kinds.map(({ name, says }) => [name, says])} isExplained />
  }
  return (
    <>
      <div class="fields">
        {family === 'error' && (
          <Choosing name="respond.error" title="Error" values={codesOf(draft.value['match.operation'])} />
        )}
        {family === 'status' && (
          <>
            <Text name="respond.status" title="Status" kind="number" />
            <Choosing
              name="respond.headers.content-type"
              title="Content-Type"
              values={CONTENT_TYPES}
              none="as the body is"
            />
            <Text name="respond.headers.retry-after" title="Retry-After" />
          </>
        )}
        {family === 'delay_ms' && <Delay />}
      </div>
      {family === 'status' && (
        <label>
          Body
          <textarea
            name="respond.body"
            rows={3}
            spellcheck={false}
            value={draft.value['respond.body']}
            onInput={({ currentTarget }) => change({ 'respond.body': currentTarget.value })}
          />
        </label>
      )}
      <p class="soft">
        <Prose text={kindIn(draft.value)?.says ?? ''} />
      </p>
    </>
  )
}

function Delay() {
  return (
    <>
      <Text name="delay_ms" title="Delay (ms)" kind="number" />
      <Text name="jitter_ms" title="Jitter (ms)" kind="number" />
    </>
  )
}

type TextName = Exclude<keyof Draft, 'family' | 'often'>

function Text({ name, title, kind = 'text' }: { name: TextName; title: string; kind?: 'text' | 'number' }) {
  return (
    <TextField
      label={title}
      name={name}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      title={FACTS.faults.fields[name]}
      value={draft.value[name]}
      onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
    />
  )
}

interface ChoiceProps {
  name: TextName
  title: string
  values: readonly Choice[]
  none?: string
}

function Choosing({ name, title, values, none }: ChoiceProps) {
  return (
    <LabelledSelect
      label={title}
      name={name}
      value={draft.value[name]}
      none={none}
      values={values}
      onChoose={(value) => change({ [name]: value })}
    />
  )
}

interface ChoicesProps {
  legend: string
  name: keyof Draft
  /** The values, each with its title, or with an explanation if `isExplained`. */
  values: readonly (readonly [value: string, words: string])[]
  isExplained?: boolean
  children?: ComponentChildren
}

/** A choice of one of a few values: side by side with titles, or in a list with explanations. */
function Choices({ legend, name, values, isExplained = false, children }: ChoicesProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class={isExplained ? 'explained' : 'row'}>
        {values.map(([value, words]) => (
          <label key={value} class={isExplained ? '' : 'chip'}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={draft.value[name] === value}
              onChange={() => change({ [name]: value })}
            />
            {isExplained ? <Explained value={value} says={words} /> : words}
          </label>
        ))}
        {children}
      </div>
    </fieldset>
  )
}

/** A value with its explanation. */
function Explained({ value, says }: { value: string; says: string }) {
  return (
    <span>
      <strong>{value}</strong> <Prose text={says} />
    </span>
  )
}
