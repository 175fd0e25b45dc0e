import type { ComponentChildren } from 'preact'
import { go, hrefOf, type Place } from '../address.ts'

interface LinkProps {
  to: Place
  class?: string
  children: ComponentChildren
  id?: string
  label?: string
  title?: string
  tabIndex?: number
  /** Which control of its row it is, for the arrow keys. */
  kind?: string
  /** Whether the page shows the place now. */
  current?: boolean
  /** Called before the page goes there. */
  onGo?(): void
}

/** A link to a place on the page. A plain click stays in the page; the browser opens the address in any other way. */
export function Link({ to, class: look = '', kind, children, id, label, title, tabIndex, current, onGo }: LinkProps) {
  // Filters that have changed since the link was rendered belong to the address of a place in the same view.
  const refresh = ({ currentTarget }: { currentTarget: HTMLAnchorElement }) => {
    currentTarget.href = hrefOf(to)
  }
  return (
    <a
      href={hrefOf(to)}
      id={id}
      class={`link ${look}`}
      data-kind={kind}
      aria-label={label}
      aria-current={current ? 'true' : undefined}
      title={title}
      tabIndex={tabIndex}
      onPointerEnter={refresh}
      onFocus={refresh}
      onClick={(event) => {
        if (event.button !== 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        event.stopPropagation()
        onGo?.()
        go(to)
      }}
    >
      {children}
    </a>
  )
}
