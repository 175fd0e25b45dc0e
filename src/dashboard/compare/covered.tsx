import type { ComponentChildren } from 'preact'
import { formatNumber } from '../formatting.ts'
import type { Comparison } from '../responses.ts'
import type { SideNames } from './versus.tsx'

type Coverage = NonNullable<Comparison['covered']>

/** Which parts of the contract only one of two accounts has shown. */
export function Covered({ covered, names }: { covered: Coverage; names: SideNames }) {
  const { responses, rules, edges } = covered
  return (
    <>
      <Kind title="Responses" names={names} parts={responses}>
        {({ operation, status, code }) => (
          <span class="mono">
            {operation ?? 'no operation'} → {[status, code].filter((part) => part !== null).join(' ')}
          </span>
        )}
      </Kind>
      <Kind title="Rules of the contract" names={names} parts={rules}>
        {({ id, says }) => (
          <>
            <span class="mono">{id}</span> <span class="soft">{says}</span>
          </>
        )}
      </Kind>
      <Kind title="Edges of limits: requests exactly at a limit, or one beyond it" names={names} parts={edges}>
        {({ id }) => <span class="mono">{id}</span>}
      </Kind>
    </>
  )
}

interface KindProps<Part> {
  title: string
  names: SideNames
  parts: { alike: number; only_in_one: Part[]; only_in_other: Part[] }
  children(part: Part): ComponentChildren
}

function Kind<Part>({ title, names, parts, children }: KindProps<Part>) {
  const { alike, only_in_one, only_in_other } = parts
  if (only_in_one.length + only_in_other.length === 0) return null
  const sides = [
    { name: names.one, only: only_in_one },
    { name: names.other, only: only_in_other },
  ]
  return (
    <section class="stack" aria-label={title}>
      <h3>
        {title} ({formatNumber(alike)} shown by both)
      </h3>
      {sides.map(({ name, only }, index) =>
        only.length === 0 ? null : (
          <div key={index}>
            <h4>
              Only <bdi>{name}</bdi>: {formatNumber(only.length)}
            </h4>
            <ul class="plain">
              {only.map((part, place) => (
                <li key={place}>{children(part)}</li>
              ))}
            </ul>
          </div>
        ),
      )}
    </section>
  )
}
