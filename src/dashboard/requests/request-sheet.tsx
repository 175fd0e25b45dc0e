import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { go, subject } from '../address.ts'
import { call } from '../client.ts'
import { Detail } from '../controls/detail.tsx'
import { useAnswer } from '../controls/loaded.tsx'
import { ErrorText } from '../controls/notices.tsx'
import type { JournalEntry } from '../responses.ts'
import { targetOf } from './exchange.ts'
import { ExplanationView } from './explanation.tsx'
import { shown } from './list.ts'
import { RequestMarks, StatusBadge } from './marks.tsx'

const ID = 'request-sheet'
/** How many characters of the path and query are in the title. The details show all of it. */
const LONGEST_TITLE = 160

/** The request that the user has opened from the list. Another request may have the same id. */
const picked = signal<{ requestId: string; ordinal: number } | undefined>(undefined)

export function noteOrdinal(requestId: string, ordinal: number): void {
  picked.value = { requestId, ordinal }
}

/** Shows the details of a request of the list. */
export function openRequest(requestId: string, ordinal: number): void {
  noteOrdinal(requestId, ordinal)
  go({ subject: requestId })
}

/** Whether a request of the list is the one whose details are shown. */
export function isOpen({ request_id, ordinal }: Pick<JournalEntry, 'request_id' | 'ordinal'>): boolean {
  return subject.value === request_id && (ordinalOf(request_id) ?? ordinal) === ordinal
}

function ordinalOf(requestId: string | undefined): number | undefined {
  return picked.value?.requestId === requestId ? picked.value?.ordinal : undefined
}

/** The details of a request, which need not be in the list. */
export function RequestDetail({ requestId }: { requestId: string }) {
  const ordinal = ordinalOf(requestId)
  const { data: explanation, failure } = useAnswer([requestId], (signal) =>
    call('explainRequest', { parameters: { 'request-id': requestId }, signal }),
  )
  const exchange = explanation?.exchange
  useStepsByKey()
  useEffect(() => document.getElementById(ID)?.scrollTo(0, 0), [requestId])
  const { newer, older } = neighbours()
  const title = exchange === undefined ? 'Request' : titleOf(exchange)
  return (
    <Detail
      id={ID}
      title={title}
      onClose={() => go({})}
      beside={
        <>
          <Step id="newer" words="↑ Newer" to={newer} />
          <Step id="older" words="↓ Older" to={older} />
        </>
      }
    >
      <div id="detail" class="stack" key={requestId}>
        {exchange !== undefined && (
          <div class="row">
            <StatusBadge status={exchange.status} />
            {exchange.code !== null && <code>{exchange.code}</code>}
            <RequestMarks request={exchange} />
          </div>
        )}
        {exchange !== undefined && ordinal !== undefined && exchange.ordinal !== ordinal && (
          <p class="refusal warn">A later request has the same id. This is the later one.</p>
        )}
        {failure !== undefined && (
          <p class="refusal bad" role="alert">
            <ErrorText error={failure} />
          </p>
        )}
        {explanation !== undefined && <ExplanationView explanation={explanation} />}
        {explanation === undefined && failure === undefined && <p class="soft">Loading the explanation…</p>}
      </div>
    </Detail>
  )
}

function titleOf(exchange: JournalEntry): string {
  const title = `${exchange.method} ${targetOf(exchange)}`.trim() || 'A request that was not HTTP'
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE)}…` : title
}

function Step({ id, words, to }: { id: string; words: string; to: ReturnType<typeof neighbours>['newer'] }) {
  // A button with the attribute `disabled` would lose the focus.
  return (
    <button
      type="button"
      id={id}
      aria-disabled={to === undefined}
      onClick={() => to && openRequest(to.request_id, to.ordinal)}
    >
      {words}
    </button>
  )
}

/** The arrow keys open the next request, unless they have another function. */
function useStepsByKey(): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event
      if ((key !== 'ArrowUp' && key !== 'ArrowDown') || altKey || ctrlKey || metaKey || shiftKey) return
      if (!(target instanceof Element) || event.defaultPrevented) return
      // The arrow keys scroll a body and move the cursor in a field. Another dialog may also be above this one.
      const isBusy = target.matches('pre, input, select, textarea') || target.closest(`#${ID}`) === null
      if (isBusy && target !== document.body) return
      event.preventDefault()
      const { newer, older } = neighbours()
      const next = key === 'ArrowUp' ? newer : older
      if (next !== undefined) openRequest(next.request_id, next.ordinal)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** The requests before and after the open one, if the list contains it. */
function neighbours(): { newer: JournalEntry | undefined; older: JournalEntry | undefined } {
  const open = subject.value
  const known = ordinalOf(open)
  const list = shown.value
  const index = list.findIndex(({ ordinal, request_id }) =>
    known === undefined ? request_id === open : ordinal === known,
  )
  return index < 0 ? { newer: undefined, older: undefined } : { newer: list[index - 1], older: list[index + 1] }
}
