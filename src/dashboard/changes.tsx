import { formatCount, formatNumber } from './formatting.ts'
import type { Schemas } from './responses.ts'
import { Badge, Pairs, Part } from './ui/marks.tsx'

/** What a request changed in its account. */
export function Changes({ explanation }: { explanation: Schemas['Explanation'] }) {
  const { changes, changes_count: count, changes_note: note, account } = explanation
  if (account === null) return null
  if (changes?.length === 0) return <p class="soft">This request changed nothing in the account.</p>
  const hidden = (count ?? 0) - (changes?.length ?? 0)
  return (
    <Part title="What this request changed in the account">
      {note !== null && <p class="soft">{note}</p>}
      <ul class="quotes stack">
        {changes?.map((change) => (
          <li key={`${change.what} ${change.name}`}>
            <ChangeLine change={change} />
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="soft">{formatCount(hidden, 'more change')}.</p>}
    </Part>
  )
}

function ChangeLine({ change: { what, name, before, after, members } }: { change: Schemas['Change'] }) {
  const isChanged = before !== null && after !== null
  const tone = isChanged ? 'warn' : before === null ? 'good' : 'bad'
  const fields = Object.keys({ ...before, ...after }).flatMap((field) => {
    const [old, fresh] = [show(before, field), show(after, field)]
    // The name of an added or removed item is shown already.
    return old === fresh || (field === 'name' && !isChanged) ? [] : [[field, old, fresh] as const]
  })
  return (
    <>
      <Badge tone={tone}>{{ warn: '~ changed', good: '+ added', bad: '− removed' }[tone]}</Badge>{' '}
      <span class="soft">{what}</span> <bdi class="mono">{name}</bdi>
      <Pairs
        entries={fields.map(([field, old, fresh]) => [
          field,
          <>
            {before !== null && <del>{old}</del>}
            {isChanged && ' → '}
            {after !== null && <ins>{fresh}</ins>}
          </>,
        ])}
      />
      {members !== null && (
        <>
          <Names sign="+" names={members.added} count={members.added_count} />
          <Names sign="−" names={members.removed} count={members.removed_count} />
        </>
      )}
    </>
  )
}

function Names({ sign, names, count }: { sign: '+' | '−'; names: readonly string[]; count: number }) {
  if (count === 0) return null
  const more = count - names.length
  return (
    <p>
      <span class="soft">
        {sign} {formatCount(count, 'member')}:
      </span>{' '}
      <bdi class="mono">{names.join(', ')}</bdi>
      {more > 0 && ` and ${formatNumber(more)} more`}
    </p>
  )
}

function show(item: object | null, field: string): string {
  const value: unknown = new Map(Object.entries(item ?? {})).get(field)
  if (value === undefined) return 'nothing'
  if (typeof value === 'number') return formatNumber(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
