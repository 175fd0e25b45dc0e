import { effect } from '@preact/signals'
import { sceneOf, telling } from './story.ts'

/** Highlights the subject of the scene in any view. A style sheet also applies to rows that are rendered later. */
export function followScene(): void {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  effect(() => {
    const { domain, group } = sceneOf(telling.value)?.look_at ?? {}
    const places = [
      ...(domain === undefined ? [] : [`[data-domain=${CSS.escape(domain)}]`]),
      ...(group === undefined ? [] : [`[data-group=${CSS.escape(group)}]`]),
    ]
    sheet.replaceSync(
      places.length === 0
        ? ''
        : `${places.join(', ')} { background: var(--accent-ground); box-shadow: inset 4px 0 0 var(--accent); }`,
    )
  })
}
