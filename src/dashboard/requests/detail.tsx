import { useEffect } from 'preact/hooks'
import { call } from '../client.ts'
import { createSource } from '../data.ts'
import { go, hrefOf, subject } from '../place.tsx'
import type { JournalEntry } from '../responses.ts'
import { Detail } from '../ui/detail.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ExplanationView } from './explanation.tsx'
import { RequestMarks, StatusBadge, targetOf } from './marks.tsx'

/** How many characters of the path and query are in the title. The details show all of it. */
const LONGEST_TITLE = 160

const explanations = createSource({ after: 'nothing', isShared: true }, (_, requestId: string) =>
  call('explainRequest', { parameters: { 'request-id': requestId } }),
)

/** The details of a request, which need not be in the list. */
export function RequestDetail({ requestId, list }: { requestId: string; list: readonly JournalEntry[] }) {
  const loaded = explanations.use(requestId)
  const exchange = loaded.data?.exchange
  const index = list.findIndex(({ id, request_id }) => id === requestId || request_id === requestId)
  const newer = index < 0 ? undefined : list[index - 1]?.id
  const older = index < 0 ? undefined : list[index + 1]?.id
  useSteps(newer, older)
  return (
    <Detail
      title={exchange === undefined ? 'Request' : titleOf(exchange)}
      beside={
        <>
          <Step words="↑ Newer" to={newer} />
          <Step words="↓ Older" to={older} />
        </>
      }
    >
      <Loaded of={loaded} what="the explanation">
        {(explanation) => {
          const { status, code } = explanation.exchange
          return (
            <div class="stack explanation" key={requestId}>
              <div class="row">
                <StatusBadge status={status} />
                {code !== null && <code>{code}</code>}
                <RequestMarks request={explanation.exchange} />
              </div>
              <ExplanationView explanation={explanation} />
            </div>
          )
        }}
      </Loaded>
    </Detail>
  )
}

function titleOf(exchange: JournalEntry): string {
  const title = `${exchange.method} ${targetOf(exchange)}`.trim() || 'A request that was not HTTP'
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE)}…` : title
}

function Step({ words, to }: { words: string; to: string | undefined }) {
  return (
    <a class="button" href={hrefOf({ subject: to ?? subject.value })} aria-disabled={to === undefined}>
      {words}
    </a>
  )
}

/** The arrow keys open the next request, unless they have another function. */
function useSteps(newer: string | undefined, older: string | undefined): void {
  useEffect(() => {
    function onKeyDown({ key, target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): void {
      const next = key === 'ArrowUp' ? newer : key === 'ArrowDown' ? older : undefined
      if (next === undefined || altKey || ctrlKey || metaKey || shiftKey) return
      // The arrow keys scroll a body and move the cursor in a field.
      const isBusy = target instanceof Element && target.closest('pre, input, select, textarea, dialog') !== null
      const isHere = target === document.body || (target instanceof Element && target.closest('.detail, tr') !== null)
      if (isHere && !isBusy) go({ subject: next })
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [newer, older])
}
