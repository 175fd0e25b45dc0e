import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf, Refused } from '../refusals.ts'
import { Prose } from './marks.tsx'

const MILLISECONDS_OF_NOTE = 4_000
const MILLISECONDS_OF_FAILURE = 12_000

const toasts = signal<readonly { tone: string; content: ComponentChildren }[]>([])

export function showNote(text: string): void {
  showToast({ tone: '', content: text }, MILLISECONDS_OF_NOTE)
}

export function showFailure(error: unknown): void {
  showToast({ tone: 'bad', content: <ErrorText error={error} /> }, MILLISECONDS_OF_FAILURE)
}

function showToast(toast: (typeof toasts.value)[number], milliseconds: number): void {
  toasts.value = [...toasts.value, toast]
  setTimeout(() => {
    toasts.value = toasts.value.filter((each) => each !== toast)
  }, milliseconds)
}

/**
 * The code and the message of a refusal, and its problems if there are several. For another error, it is the message.
 * `rename` replaces names of fields by labels.
 */
export function ErrorText({ error, rename = (text) => text }: { error: unknown; rename?: (text: string) => string }) {
  if (!(error instanceof Refused)) return <Prose text={messageOf(error)} />
  // The message usually repeats the first problem.
  const others = error.problems.filter(({ message }) => message !== error.message)
  return (
    <>
      <strong>{error.code}</strong> <Prose text={rename(error.message)} />
      {error.problems.length > 1 && (
        <ul>
          {others.map(({ code, message }) => (
            <li key={message}>
              {code}: <Prose text={rename(message)} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The current notes, above everything else. */
export function Toasts() {
  const place = useRef<HTMLDivElement>(null)
  const shown = toasts.value
  useEffect(() => {
    const node = place.current
    if (node === null) return
    // A popover is above an open dialog only if it is shown later.
    if (node.matches(':popover-open')) node.hidePopover()
    if (shown.length > 0) node.showPopover()
  }, [shown])
  return (
    <div id="toasts" role="status" popover="manual" ref={place}>
      {shown.map(({ tone, content }) => (
        <div class={`refusal ${tone}`}>{content}</div>
      ))}
    </div>
  )
}
