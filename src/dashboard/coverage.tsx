import { call } from './control.ts'
import { createSource } from './data.ts'
import { formatShown } from './formatting.ts'
import { parameter, setFilters } from './place.tsx'
import type { Schemas } from './responses.ts'
import { Badge, Card, Copyable, Meter, Prose } from './ui/elements.tsx'
import { SearchField } from './ui/forms.tsx'
import { findItems } from './ui/lists.tsx'
import { Loaded } from './ui/loaded.tsx'

type Coverage = Schemas['Coverage']
type Gap = Schemas['Gap']

const coverage = createSource((account) => call('getCoverage', { parameters: { account } }))
const search = parameter('search')

const PARTS = [
  ['operations', 'Operations', 'each method and path of the API'],
  ['responses', 'Responses', 'each status and error code that an operation can answer'],
  ['rules', 'Rules', 'each sentence of the specification that a request can show'],
  ['edges', 'Limits', 'each limit twice: a value exactly at it, and one just beyond it'],
] as const

const SIDES = {
  at: 'A value exactly at the limit, which is accepted.',
  beyond: 'A value just beyond the limit, which is refused.',
} as const

/** A part of the contract that no request of the account covers. */
interface NamedGap {
  kind: 'response' | 'rule' | 'limit'
  name: string
  gap: Gap
  /** What it is; it can be empty. */
  says: string
}

function gapsOf({ operations, rules, edges }: Coverage): NamedGap[] {
  const named = (kind: NamedGap['kind'], name: string, gap: Gap, says = ''): NamedGap => ({ kind, name, gap, says })
  return [
    ...operations.flatMap(({ operation, responses }) =>
      responses
        .filter(({ genuine }) => genuine === 0)
        .map((gap) => named('response', `${operation} → ${gap.status} ${gap.code ?? ''}`.trim(), gap)),
    ),
    ...rules.filter(({ seen }) => !seen).map((gap) => named('rule', gap.id, gap, gap.says)),
    ...edges.filter(({ seen }) => !seen).map((gap) => named('limit', gap.id, gap, SIDES[gap.side])),
  ]
}

export function CoverageView() {
  return (
    <Loaded of={coverage.use()} what="the coverage">
      {(data) => (
        <>
          <Card title="How much of the contract the requests of this account have covered">
            {PARTS.map(([part, title, says]) => {
              const { seen, total, percent } = data.summary[part]
              const name = (
                <>
                  {title} <span class="soft">{says}</span>
                </>
              )
              return (
                <div key={part} class="meter">
                  <Meter {...{ name, label: `Coverage of ${title.toLowerCase()}`, count: seen, of: total }} />
                  <span class="soft number">{`${percent} %`}</span>
                </div>
              )
            })}
          </Card>
          <Gaps gaps={gapsOf(data)} />
        </>
      )}
    </Loaded>
  )
}

function Gaps({ gaps }: { gaps: readonly NamedGap[] }) {
  const shown = findItems(gaps, search.value, ({ kind, name, says }) => [`${kind} ${name} ${says}`])
  return (
    <Card
      title="Not covered yet"
      beside={
        <>
          <span class="soft">{formatShown(shown.length, gaps.length, 'gap')}</span>
          <SearchField
            label="Filter gaps"
            placeholder="Filter, such as: response createDomainGroup 409"
            text={search.value}
            onText={(text) => setFilters({ search: text })}
          />
        </>
      }
    >
      <p class="soft">
        Open a line for a command that shows it, or for one to begin with. A response that a fault rule has made counts
        as nothing.
      </p>
      <ul class="ruled">
        {shown.map((gap) => (
          <GapItem key={`${gap.kind} ${gap.name}`} {...gap} />
        ))}
        {shown.length === 0 && (
          <li class="soft">{gaps.length === 0 ? 'Everything is covered.' : 'No gap matches the filter.'}</li>
        )}
      </ul>
    </Card>
  )
}

function GapItem({ kind, name, says, gap: { curl, hint } }: NamedGap) {
  return (
    <li>
      <details>
        <summary>
          <Badge>{kind}</Badge> <span class="mono">{name}</span>{' '}
          {says !== '' && (
            <span class="soft">
              <Prose text={says} />
            </span>
          )}
        </summary>
        <div class="stack">
          {hint !== undefined && <p class="soft">{hint}</p>}
          {curl?.map((command) => (
            <Copyable key={command} text={command} label={`Copy the command for ${name}`} />
          ))}
        </div>
      </details>
    </li>
  )
}
