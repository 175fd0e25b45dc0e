import { useSignal } from '@preact/signals'
import { Sheet } from '../controls/sheet.tsx'
import { VerdictDetails } from './details.tsx'
import { SCOPE, shownVerdict } from './verdict.ts'

/** The verdict about all accounts in a few words. A click opens the details. */
export function VerdictPill() {
  const open = useSignal(false)
  const { tone, words } = shownVerdict.value
  return (
    <>
      <button
        type="button"
        id="verdict"
        class={`pill dot ${tone} ${tone === '' ? 'hollow' : ''}`}
        aria-haspopup="dialog"
        onClick={() => {
          open.value = true
        }}
      >
        {`A${SCOPE.slice(1)}: ${words}`}
      </button>
      <span class="unseen" role="status">
        {tone === 'bad' && 'The contract was violated.'}
      </span>
      {open.value && (
        <Sheet
          id="verdict-sheet"
          title={`Verdict of ${SCOPE}`}
          onClose={() => {
            open.value = false
          }}
        >
          <VerdictDetails
            close={() => {
              open.value = false
            }}
          />
        </Sheet>
      )}
    </>
  )
}
