import { useState } from 'preact/hooks'
import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { FACTS, isOffered } from '../facts.ts'
import { proposeRule } from '../faults/draft.ts'
import { Link } from '../place.tsx'
import type { FaultRule, JournalEntry } from '../responses.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox, Form, LabelledSelect, TextField, textOf } from '../ui/form.tsx'
import { showNote } from '../ui/notices.tsx'

/** What can happen to the next request, in addition to the errors of its operation. */
const EFFECTS: Readonly<Record<string, FaultRule>> = {
  'answer 503': { respond: { status: 503, body: 'Service Unavailable\n' } },
  'reset the connection': { connection: 'reset' },
  'do it, but lose the answer': { connection: 'reset', phase: 'after' },
  'never answer': { connection: 'hang' },
  'answer 5 seconds later': { delay_ms: 5_000 },
}

/** A form for a fault rule that meets the next request like this one. */
export function NextFault({ exchange: { account, operation, key } }: { exchange: JournalEntry }) {
  const [added, setAdded] = useState<string>()
  if (account === null || operation === null || !isOffered('addFault')) return null
  const codes = FACTS.operations.find(({ id }) => id === operation)?.codes ?? []

  async function add(fields: FormData, account: string, operation: string): Promise<void> {
    const wanted = textOf(fields, 'effect')
    const match = { operation, ...(key !== null && fields.has('key') && { key }) }
    const effect = EFFECTS[wanted] ?? { respond: { error: wanted } }
    const body: FaultRule = { match, ...effect, times: Number(textOf(fields, 'times')) }
    const { fault } = await call('addFault', { parameters: { account }, body })
    setAdded(fault.id)
    await refreshShown()
    showNote(`The rule ${fault.id} waits for the next such request.`)
  }

  return (
    <details class="card">
      <summary>Let the next such request fail…</summary>
      <Form
        submit="Add the rule"
        work={(fields) => add(fields, account, operation)}
        beside={<Button words="More choices…" work={() => proposeRule(operation, account)} />}
      >
        <p class="soft">A fault rule for {operation}. It acts after the checks of key and quota.</p>
        <div class="fields">
          <LabelledSelect label="What happens" name="effect" values={[...Object.keys(EFFECTS), ...codes]} />
          <TextField label="How many times" name="times" inputMode="numeric" defaultValue="1" />
        </div>
        {key !== null && <Checkbox name="key" words={`Only with the key ${key}`} />}
      </Form>
      {added !== undefined && (
        <p role="status">
          Added as <code>{added}</code>.{' '}
          <Link account={account} view="faults">
            Show the rules
          </Link>
        </p>
      )}
    </details>
  )
}
