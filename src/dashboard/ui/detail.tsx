import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { go, hrefOf } from '../place.tsx'

interface ListAndDetailProps {
  /** What the list is of. */
  title: string
  /** The tools and the list. */
  children: ComponentChildren
  /** A `Detail` while an item is open. */
  detail: ComponentChildren
}

/** A list, and beside it the details of one of its items. On a narrow screen, the details take the place of the list. */
export function ListAndDetail({ title, children, detail }: ListAndDetailProps) {
  return (
    <div class="list-and-detail">
      <div class="list stack">
        <h2 class="unseen">{title}</h2>
        {children}
      </div>
      {detail}
    </div>
  )
}

interface DetailProps {
  title: string
  /** Content beside the title, such as links to the next item. */
  beside?: ComponentChildren
  children: ComponentChildren
}

/** The details of the open item. Escape and a link close them, and the focus returns to the row. */
export function Detail({ title, beside, children }: DetailProps) {
  const place = useRef<HTMLElement>(null)
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    // When the details close, the row no longer says that it is the open one.
    row.current = document.querySelector<HTMLElement>('.list a[aria-current="true"]') ?? row.current
  })
  useEffect(() => {
    const own = place.current
    const reached = scrollY
    // Where the details take the place of the list, they begin at the top, and the list goes on where it was.
    if ((own?.getBoundingClientRect().top ?? 0) < 0) own?.scrollIntoView()
    // A place that was opened by its address takes no focus.
    if (document.activeElement !== document.body) own?.focus({ preventScroll: true })
    function onEscape(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
      if (event.target instanceof Element && event.target.matches('input, select, textarea')) return
      event.preventDefault()
      go({})
    }
    document.addEventListener('keydown', onEscape)
    return () => {
      document.removeEventListener('keydown', onEscape)
      const hadFocus = own?.contains(document.activeElement) || document.activeElement === document.body
      // Beforehand, the list may be hidden.
      setTimeout(() => {
        scrollTo(0, reached)
        if (hadFocus) row.current?.focus({ preventScroll: true })
      })
    }
  }, [])
  useEffect(() => place.current?.scrollTo(0, 0), [title])
  return (
    <section ref={place} class="detail card stack" aria-label={title} tabIndex={-1}>
      <div class="row bar">
        <h2 class="grow">
          <bdi>{title}</bdi>
        </h2>
        {beside}
        <a href={hrefOf({})} class="button">
          Close
        </a>
      </div>
      {children}
    </section>
  )
}
