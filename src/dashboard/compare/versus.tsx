import type { ComponentChildren } from 'preact'
import type { Place } from '../address.ts'
import { Link } from '../controls/link.tsx'

/** What the two sides are called. */
export interface SideNames {
  one: string
  other: string
}

/** What one side has, and where the page shows it. */
export interface VersusCell {
  text: string
  to?: Place
}

export interface VersusRow {
  name: ComponentChildren
  /** The same as text, for the names of links. */
  about: string
  one: VersusCell
  other: VersusCell
}

interface VersusProps {
  title: string
  /** The head of the first column. */
  what: string
  names: SideNames
  rows: readonly VersusRow[]
}

/** A table with one column for each side. */
export function Versus({ title, what, names, rows }: VersusProps) {
  return (
    <table class="versus">
      <caption class="unseen">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col">
            <bdi>{names.one}</bdi>
          </th>
          <th scope="col">
            <bdi>{names.other}</bdi>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, about, one, other }) => (
          <tr key={about}>
            <th scope="row">{name}</th>
            <Cell about={about} side={names.one} cell={one} />
            <Cell about={about} side={names.other} cell={other} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** On a narrow screen, the heads of the columns are not seen, so each cell has the name of its side. */
function Cell({ about, side, cell: { text, to } }: { about: string; side: string; cell: VersusCell }) {
  return (
    <td>
      <span class="side soft" aria-hidden="true">
        <bdi>{side}</bdi>:{' '}
      </span>
      {to === undefined ? (
        text
      ) : (
        <Link to={to} label={`${text}: ${about} in ${side}`}>
          {text}
        </Link>
      )}
    </td>
  )
}
