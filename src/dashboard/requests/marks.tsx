import type { JournalEntry } from '../responses.ts'
import { Badge } from '../ui/marks.tsx'

export function StatusBadge({ status }: Pick<JournalEntry, 'status'>) {
  if (status === null) return <Badge tone="odd">no response</Badge>
  return <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Badge>
}

export function RequestMarks({ request }: { request: JournalEntry }) {
  const { violates_contract, violations, injected, fault } = request
  const effect = fault?.effect ?? undefined
  return (
    <>
      {violates_contract && (
        <Badge tone="bad" title="The contract forbids this request in every state. The verdict counts it.">
          violates the contract
        </Badge>
      )}
      {violations.some(({ by }) => by !== 'client') && <Badge tone="bad">response violates the contract</Badge>}
      {injected && (
        <Badge tone="odd" title={effect || 'The response does not show how the service behaves.'}>
          injected
        </Badge>
      )}
      {!injected && fault !== null && (
        <Badge tone="odd" title={effect}>
          fault
        </Badge>
      )}
    </>
  )
}

/** The path and the query, as in a request line. */
export function targetOf({ path, query }: Pick<JournalEntry, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`
}
