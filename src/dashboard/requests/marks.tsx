import { Badge } from '../controls/marks.tsx'
import type { JournalEntry } from '../responses.ts'

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
