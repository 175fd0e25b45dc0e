import { formatCount, formatNumber } from '../formatting.ts'
import type { Change, Explanation } from '../responses.ts'
import { Badge, Pairs, Part } from '../ui/marks.tsx'

const TITLE = 'What this request changed in the account'

export function Changes({ explanation }: { explanation: Explanation }) {
  const { changes, changes_count: count, changes_note: note, account } = explanation
  if (account === null) return null
  if (changes === null) {
    return (
      <Part title={TITLE}>
        <p class="soft">{note ?? 'The states before and after it are not kept any more.'}</p>
      </Part>
    )
  }
  if (changes.length === 0) return <p class="soft">This request changed nothing in the account.</p>
  const hidden = (count ?? changes.length) - changes.length
  return (
    <Part title={TITLE}>
      <ul class="changes">
        {changes.map((change) => (
          <li key={`${change.what} ${change.name}`}>
            <ChangeLine change={change} />
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="soft">{formatCount(hidden, 'more change')}.</p>}
    </Part>
  )
}

function ChangeLine({ change: { what, name, before, after, members } }: { change: Change }) {
  const [sign, words, tone] =
    before === null
      ? (['+', 'added', 'good'] as const)
      : after === null
        ? (['−', 'removed', 'bad'] as const)
        : (['~', 'changed', 'warn'] as const)
  const fields = differingFields(before, after)
  return (
    <>
      <div class="row">
        <Badge tone={tone}>
          <span aria-hidden="true">{sign}</span> {words}
        </Badge>
        <span class="grow">
          <span class="soft">{what}</span> <bdi class="mono">{name}</bdi>
        </span>
      </div>
      {fields.length > 0 && (
        <Pairs
          entries={fields.map(([field, old, fresh]) => [
            field,
            <>
              {before !== null && <del>{show(old)}</del>}
              {before !== null && after !== null && ' → '}
              {after !== null && <ins>{show(fresh)}</ins>}
            </>,
          ])}
        />
      )}
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
    <p class="members">
      <span class="soft">
        {sign} {formatCount(count, 'member')}:
      </span>{' '}
      <bdi class="mono">{names.join(', ')}</bdi>
      {more > 0 && ` and ${formatNumber(more)} more`}
    </p>
  )
}

/** The fields that differ, with both values. The name of an added or removed item is omitted: it is shown already. */
function differingFields(before: object | null, after: object | null): [name: string, old: unknown, fresh: unknown][] {
  const [old, fresh] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))]
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((name) => name !== 'name' || (before !== null && after !== null))
    .filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(fresh.get(name)))
    .map((name) => [name, old.get(name), fresh.get(name)])
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number') return formatNumber(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
