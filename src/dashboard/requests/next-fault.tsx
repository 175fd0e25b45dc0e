import { useState } from 'preact/hooks'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Checkbox, Form, Options, textOf } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS, isOffered } from '../facts.ts'
import { proposeRule, showRules } from '../faults/draft.ts'
import { refreshShown } from '../resource.ts'
import type { FaultRule, JournalEntry } from '../responses.ts'

/** The effects for the next request, in addition to the errors of its operation. */
const EFFECTS: readonly { name: string; title: string; effect: FaultRule }[] = [
  { name: 'unavailable', title: 'answer 503', effect: { respond: { status: 503, body: 'Service Unavailable\n' } } },
  { name: 'reset', title: 'reset the connection', effect: { connection: 'reset' } },
  { name: 'lost', title: 'do it, but lose the answer', effect: { connection: 'reset', phase: 'after' } },
  { name: 'hang', title: 'never answer', effect: { connection: 'hang' } },
  { name: 'delay', title: 'answer 5 seconds later', effect: { delay_ms: 5_000 } },
]

export function NextFault({ exchange }: { exchange: JournalEntry }) {
  const { account, operation, method, key } = exchange
  const [added, setAdded] = useState<string>()
  const match = matchOf(exchange)
  if (account === null || match === undefined || !isOffered('addFault')) return null
  const codes = FACTS.operations.find(({ id }) => id === operation)?.codes ?? []

  async function add(fields: FormData): Promise<void> {
    if (account === null) return
    const wanted = textOf(fields, 'effect')
    const effect = EFFECTS.find(({ name }) => name === wanted)?.effect ?? { respond: { error: wanted } }
    const ofKey = key !== null && fields.has('key') && { key }
    const rule: FaultRule = { match: { ...match, ...ofKey }, ...effect, times: Number(textOf(fields, 'times')) }
    const { fault } = await call('addFault', { parameters: { account }, body: rule })
    setAdded(fault.id)
    await refreshShown()
    showNote(`The rule ${fault.id} waits for the next such request.`)
  }

  return (
    <details class="card" id="next-fault">
      <summary>Let the next such request fail…</summary>
      <Form
        submit="Add the rule"
        work={add}
        beside={<Button words="More choices…" work={() => proposeRule({ match, times: 1 }, account)} />}
      >
        <p class="soft">
          A fault rule for {operation ?? `${method} ${match.path}`}. It acts after the checks of key and quota.
        </p>
        <div class="fields">
          <label>
            What happens
            <select name="effect">
              <optgroup label="Something breaks">
                <Options values={EFFECTS.map(({ name, title }) => [name, title])} />
              </optgroup>
              {codes.length > 0 && (
                <optgroup label="The service refuses with">
                  <Options values={codes} />
                </optgroup>
              )}
            </select>
          </label>
          <label>
            How many times
            <input name="times" type="number" min={1} value={1} />
          </label>
        </div>
        {key !== null && <Checkbox name="key" words={`Only with the key ${key}`} />}
      </Form>
      {added !== undefined && (
        <p role="status">
          Added as <code>{added}</code>. <Button words="Show the rules" kind="link" work={() => showRules(account)} />
        </p>
      )}
    </details>
  )
}

/** The match for the next request like this one; `undefined` if no rule can match it. */
function matchOf({ operation, method, path }: JournalEntry): FaultRule['match'] {
  if (operation !== null) return { operation }
  if (!path.startsWith(`${FACTS.basePath}/`) || FACTS.operations.every((each) => each.method !== method))
    return undefined
  return { method, path: path.slice(FACTS.basePath.length) }
}
