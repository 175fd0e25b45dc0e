import { useSignal } from '@preact/signals'
import { call } from '../client.ts'
import { createSource } from '../data.ts'
import { formatNumber, formatShown } from '../formatting.ts'
import type { Coverage, Gap } from '../responses.ts'
import { Copyable } from '../ui/button.tsx'
import { SearchField } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Meter, Prose } from '../ui/marks.tsx'
import { findItems } from '../ui/rows.tsx'

const coverage = createSource({ after: 'requests' }, (account) => call('getCoverage', { parameters: { account } }))

/** A part of the contract that no request of the account covers. */
interface NamedGap {
  kind: 'response' | 'rule' | 'limit'
  name: string
  says?: string
  gap: Gap
}

/** The parts of the summary: their titles, and what is counted. */
const PARTS: Readonly<Record<keyof Coverage['summary'], readonly [title: string, says: string]>> = {
  operations: ['Operations', 'each method and path of the API'],
  responses: ['Responses', 'each status and error code that an operation can answer'],
  rules: ['Rules', 'each sentence of the specification that a request can show'],
  edges: ['Limits', 'each limit twice: a value exactly at it, and one just beyond it'],
}

const SIDES = {
  at: 'A value exactly at the limit, which is accepted.',
  beyond: 'A value just beyond the limit, which is refused.',
} as const

function gapsOf({ operations, rules, edges }: Coverage): NamedGap[] {
  const responses = operations.flatMap(({ operation, responses }) =>
    responses
      .filter(({ genuine }) => genuine === 0)
      .map((gap): NamedGap => {
        const code = gap.code === undefined ? '' : ` ${gap.code}`
        return { kind: 'response', name: `${operation} → ${gap.status}${code}`, gap }
      }),
  )
  return [
    ...responses,
    ...rules.filter(({ seen }) => !seen).map((gap): NamedGap => ({ kind: 'rule', name: gap.id, says: gap.says, gap })),
    ...edges
      .filter(({ seen }) => !seen)
      .map((gap): NamedGap => ({ kind: 'limit', name: gap.id, says: SIDES[gap.side], gap })),
  ]
}

export function CoverageView() {
  return (
    <Loaded of={coverage.use()} what="the coverage">
      {(data) => <Report coverage={data} />}
    </Loaded>
  )
}

function Report({ coverage: data }: { coverage: Coverage }) {
  return (
    <>
      <section class="card stack">
        <h2>How much of the contract the requests of this account have covered</h2>
        <div class="stack">
          {(Object.keys(PARTS) as (keyof typeof PARTS)[]).map((part) => {
            const [title, says] = PARTS[part]
            const { seen, total, percent } = data.summary[part]
            return (
              <div key={part} class="quota coverage">
                <span>
                  {title} <span class="soft">{says}</span>
                </span>
                <Meter
                  share={percent / 100}
                  low={0}
                  label={`Coverage of ${title.toLowerCase()}`}
                  text={`${formatNumber(seen)} of ${formatNumber(total)}`}
                />
                <span class="count">{`${formatNumber(seen)} / ${formatNumber(total)}`}</span>
                <span class="soft">{`${percent} %`}</span>
              </div>
            )
          })}
        </div>
      </section>
      <Gaps coverage={data} />
    </>
  )
}

function Gaps({ coverage }: { coverage: Coverage }) {
  const filter = useSignal('')
  const gaps = gapsOf(coverage)
  const shown = findItems(gaps, filter.value, ({ kind, name, says = '' }) => [`${kind} ${name} ${says}`])
  return (
    <section class="stack" aria-labelledby="gaps-title">
      <div class="row">
        <h2 id="gaps-title">Not covered yet</h2>
        <span class="grow soft">{formatShown(shown.length, gaps.length, 'gap')}</span>
        <SearchField
          label="Filter gaps"
          placeholder="Filter, such as: response createDomainGroup 409"
          text={filter.value}
          onText={(text) => (filter.value = text)}
        />
      </div>
      <p class="soft">
        Open a line for a command that shows it, or for one to begin with. A response that a fault rule has made counts
        as nothing.
      </p>
      <ul class="card ruled halves">
        {shown.map((gap) => (
          <GapItem key={`${gap.kind} ${gap.name}`} {...gap} />
        ))}
        {shown.length === 0 && (
          <li class="soft">{gaps.length === 0 ? 'Everything is covered.' : 'No gap matches the filter.'}</li>
        )}
      </ul>
    </section>
  )
}

function GapItem({ kind, name, says, gap: { curl, hint } }: NamedGap) {
  return (
    <li>
      <details>
        <summary>
          <Badge>{kind}</Badge> <span class="mono">{name}</span>{' '}
          {says !== undefined && (
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
