import { Button } from '../controls/button.tsx'
import { FACTS } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import { clearJournal } from './clear-journal.ts'
import {
  conditions,
  drawnCount,
  isPaused,
  pause,
  type Scope,
  scope,
  shown,
  skipped,
  total,
  waiting,
  words,
} from './list.ts'
import type { Conditions } from './listed-request.ts'

const TOGGLES = [
  ['violation', 'Violations'],
  ['refused', 'Refused'],
  ['injected', 'Injected'],
] as const satisfies readonly (readonly [keyof Conditions, string])[]

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['account', 'This account'],
  ['none', 'No account'],
  ['all', 'All accounts'],
]

/** The filters and the scope of the list. */
export function RequestToolbar() {
  return (
    <div class="stack no-print request-tools">
      <div class="row">
        <input
          id="request-filter"
          type="search"
          class="grow"
          placeholder="Words, such as POST 4xx invalid_domain"
          aria-label="Words to look for in the requests"
          value={words}
          onInput={({ currentTarget }) => {
            words.value = currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') words.value = ''
          }}
        />
        <select
          id="request-operation"
          aria-label="Operation"
          value={conditions.value.operation}
          onChange={({ currentTarget }) => want({ operation: currentTarget.value })}
        >
          <option value="">All operations</option>
          {FACTS.operations.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
        <select
          id="request-scope"
          aria-label="Whose requests"
          value={scope}
          onChange={({ currentTarget }) => {
            scope.value = SCOPES.find(([name]) => name === currentTarget.value)?.[0] ?? 'account'
          }}
        >
          {SCOPES.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <div class="row">
        {TOGGLES.map(([name, title]) => (
          <button
            key={name}
            type="button"
            aria-pressed={conditions.value[name]}
            onClick={() => want({ [name]: !conditions.peek()[name] })}
          >
            {title}
          </button>
        ))}
        <p id="request-count" class="soft grow">
          {sayHowMany()}
        </p>
        <button type="button" id="request-pause" aria-pressed={isPaused} onClick={() => pause(!isPaused.peek())}>
          {isPaused.value ? 'Go on' : 'Pause'}
        </button>
        {scope.value === 'account' && (
          <Button id="requests-clear" kind="danger" work={clearJournal}>
            Clear the journal…
          </Button>
        )}
      </div>
    </div>
  )
}

function want(changed: Partial<Conditions>): void {
  conditions.value = { ...conditions.peek(), ...changed }
}

/** How many requests are shown, and how many exist. */
function sayHowMany(): string {
  const all = total.value
  if (all === undefined) return 'Loading…'
  const [drawn, found, { count, isExact }] = [drawnCount.value, shown.value.length, skipped.value]
  const of = drawn < all ? `latest ${formatNumber(drawn)} of ${formatCount(all, 'request')}` : ''
  const parts = [
    words.value.trim() === ''
      ? of || formatCount(drawn, 'request')
      : `${formatNumber(found)} of the ${of || formatCount(drawn, 'request')}`,
    isPaused.value && `paused, ${formatCount(waiting.value, 'new request')}`,
    (count > 0 || !isExact) && `${isExact ? '' : 'more than '}${formatNumber(count)} passed too fast to be shown`,
  ]
  return parts.filter(Boolean).join(' · ')
}
