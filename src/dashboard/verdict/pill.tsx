import { useSignal } from '@preact/signals'
import { Sheet } from '../controls/sheet.tsx'
import { VerdictDetails } from './details.tsx'
import { shownVerdict } from './verdict.ts'

/** The verdict of all accounts in a few words. A click shows what is behind it. */
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
        All accounts: {words}
      </button>
      <span class="unseen" role="status">
        {tone === 'bad' && 'The contract was violated.'}
      </span>
      {open.value && (
        <Sheet
          id="verdict-sheet"
          title="Verdict of all accounts"
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
