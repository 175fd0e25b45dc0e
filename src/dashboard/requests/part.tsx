import type { ComponentChildren } from 'preact'

/** A section of the details with a heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
