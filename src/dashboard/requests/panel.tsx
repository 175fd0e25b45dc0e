import { listed } from './list.ts'

/** How many requests the list has. */
export function requestsTally(): number {
  return listed.value.length
}

/** The requests of the account as they happen. */
export function RequestsPanel() {
  return (
    <ul id="request-rows">
      {listed.value.map(({ ordinal, method, path }) => (
        <li key={ordinal}>
          {method} {path}
        </li>
      ))}
    </ul>
  )
}
