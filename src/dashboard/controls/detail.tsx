import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Sheet, SheetParts, type SheetProps } from './dialog.tsx'

/** From this width on, the details of an item stand beside its list. The style sheets have the same width. */
const WIDE = matchMedia('(min-width: 75rem)')

const isWide = signal(WIDE.matches)
WIDE.addEventListener('change', () => {
  isWide.value = WIDE.matches
})

interface ListAndDetailProps {
  /** The tools and the list. Its last element fills the height and scrolls where the details stand beside it. */
  children: ComponentChildren
  /** A `Detail` while an item is open. */
  detail: ComponentChildren
}

/** A list, and beside it the details of one of its items. On a narrow screen, the details are a sheet above the list. */
export function ListAndDetail({ children, detail }: ListAndDetailProps) {
  return (
    <div class="list-and-detail">
      <div class="list-side">{children}</div>
      {detail}
    </div>
  )
}

/** The details of the open item. Escape and the button close them. Then the focus returns to what opened them, or to the row. */
export function Detail(props: SheetProps) {
  return isWide.value ? <Beside {...props} /> : <Sheet {...props} />
}

function Beside({ title, id, beside, onClose, children }: SheetProps) {
  const place = useRef<HTMLElement>(null)
  const row = useRef<HTMLElement>(null)
  function close(): void {
    row.current = document.querySelector('.list-side [aria-current="true"]')
    onClose()
  }
  useEffect(() => {
    const own = place.current
    const opener = document.activeElement
    // A place that was opened by its address takes no focus.
    if (opener !== document.body) own?.focus({ preventScroll: true })
    return () => {
      const isInside = own?.contains(document.activeElement) || document.activeElement === document.body
      const back = opener !== document.body && opener?.isConnected ? opener : row.current
      if (isInside && back instanceof HTMLElement) back.focus({ preventScroll: true })
    }
  }, [])
  useEffect(() => {
    function onEscape(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
      if (event.target instanceof Element && event.target.matches('input, select, textarea')) return
      event.preventDefault()
      close()
    }
    document.addEventListener('keydown', onEscape)
    return () => document.removeEventListener('keydown', onEscape)
  }, [onClose])
  return (
    <section ref={place} id={id} class="detail" aria-label={title} tabIndex={-1}>
      <SheetParts title={title} beside={beside} onClose={close}>
        {children}
      </SheetParts>
    </section>
  )
}
