import { useState } from 'preact/hooks'
import { call } from '../client.ts'
import { Form, textOf } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { refreshShown } from '../resource.ts'
import type { FaultRule, JournalEntry } from '../responses.ts'
import { chosenAccount, openTab } from '../selection.ts'
import { closeRequest } from './open-request.ts'

/** What can happen to the next request, beside the errors of its operation. */
const EFFECTS: readonly { name: string; title: string; effect: Partial<FaultRule> }[] = [
  { name: 'unavailable', title: 'answer 503', effect: { respond: { status: 503 } } },
  { name: 'reset', title: 'reset the connection', effect: { connection: 'reset' } },
  { name: 'lost', title: 'do it, but lose the answer', effect: { connection: 'reset', phase: 'after' } },
  { name: 'hang', title: 'never answer', effect: { connection: 'hang' } },
  { name: 'delay', title: 'answer 5 seconds later', effect: { delay_ms: 5_000 } },
]

/** A form that makes a fault rule of a request: the next such request meets something else. */
export function NextFault({ exchange }: { exchange: JournalEntry }) {
  const { account, operation, method, key } = exchange
  const [added, setAdded] = useState<string>()
  const match = matchOf(exchange)
  if (account === null || match === undefined) return null
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
    <details class="card no-print" id="next-fault">
      <summary>Let the next such request fail…</summary>
      <Form submit="Add the rule" work={add}>
        <p class="soft">
          A fault rule for {operation ?? `${method} ${match.path}`}. It acts after the checks of key and quota.
        </p>
        <div class="fields">
          <label>
            What happens
            <select name="effect">
              <optgroup label="Something breaks">
                {EFFECTS.map(({ name, title }) => (
                  <option key={name} value={name}>
                    {title}
                  </option>
                ))}
              </optgroup>
              {codes.length > 0 && (
                <optgroup label="The service refuses with">
                  {codes.map((code) => (
                    <option key={code}>{code}</option>
                  ))}
                </optgroup>
              )}
            </select>
          </label>
          <label>
            How many times
            <input name="times" type="number" min={1} value={1} />
          </label>
        </div>
        {key !== null && (
          <label class="check">
            <input type="checkbox" name="key" />
            Only with the key {key}
          </label>
        )}
      </Form>
      {added !== undefined && (
        <p role="status">
          Added as <code>{added}</code>.{' '}
          <button type="button" class="link" onClick={() => showRules(account)}>
            Show the rules
          </button>
        </p>
      )}
    </details>
  )
}

/** What the next such request has in common with this one; `undefined` where no rule can match it. */
function matchOf({
  operation,
  method,
  path,
}: JournalEntry): { operation?: string; method?: string; path?: string } | undefined {
  if (operation !== null) return { operation }
  if (!path.startsWith(`${FACTS.basePath}/`) || !METHODS.has(method)) return undefined
  return { method, path: path.slice(FACTS.basePath.length) }
}

/** The methods that a rule can match. */
const METHODS = new Set(FACTS.operations.map(({ method }) => method))

function showRules(account: string): void {
  closeRequest()
  chosenAccount.value = account
  openTab.value = 'faults'
}
