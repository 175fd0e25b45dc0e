import { Link } from '../controls/link.tsx'
import { formatNumber } from '../formatting.ts'
import type { Comparison } from '../responses.ts'
import { Versus, type VersusCell, type VersusRow } from './versus.tsx'

type Requests = NonNullable<Comparison['asked']>
type Parting = NonNullable<Requests['parting']>
type Answer = Requests['operations'][number]['answers'][number]

/** What the clients of two accounts asked: where they part, and the number of requests by operation and answer. */
export function Asked({ asked, one, other }: { asked: Requests; one: string; other: string }) {
  const { operations, parting, missing_in_one, missing_in_other } = asked
  const isPartingKnown = missing_in_one + missing_in_other === 0 && asked.one > 0 && asked.other > 0
  const rows = operations.flatMap(({ operation, method, path, answers }) =>
    answers.map((answer): VersusRow => {
      const about = `${operation === null ? 'no operation' : `${method} ${path}`} → ${writeAnswer(answer)}`
      return {
        ...{ about, name: <span class="mono">{about}</span> },
        one: countOf(answer.one, one, answer.one_request),
        other: countOf(answer.other, other, answer.other_request),
      }
    }),
  )
  return (
    <>
      {parting !== null && isPartingKnown && <PartingPlace parting={parting} one={one} other={other} />}
      {rows.length > 0 && (
        <section class="stack" aria-label="Requests by answer">
          <h3>Requests by answer</h3>
          <p class="soft">A number leads to the first of these requests.</p>
          <Versus title="Requests by answer" what="Request and answer" names={{ one, other }} rows={rows} />
        </section>
      )}
    </>
  )
}

function PartingPlace({
  parting: { position, ...acts },
  one,
  other,
}: {
  parting: Parting
  one: string
  other: string
}) {
  return (
    <section class="stack" aria-label="Where they part">
      <h3>Where they part: request {formatNumber(position)}</h3>
      <p class="soft">
        {position === 1
          ? 'The very first requests differ.'
          : `Up to request ${formatNumber(position - 1)}, both did the same and got the same answers.`}
      </p>
      <ul class="plain">
        <Act account={one} request={acts.one} />
        <Act account={other} request={acts.other} />
      </ul>
    </section>
  )
}

function Act({ account, request }: { account: string; request: Parting['one'] }) {
  return (
    <li>
      <bdi>{account}</bdi>:{' '}
      {request === null ? (
        'no further request'
      ) : (
        <Link class="mono" to={placeOf(account, request.request_id)}>
          {request.method} {request.path} → {writeAnswer(request)}
        </Link>
      )}
    </li>
  )
}

function placeOf(account: string, id: string) {
  return { account, tab: 'requests', subject: id, parameters: {} } as const
}

function countOf(times: number, account: string, first: string | null): VersusCell {
  return { text: formatNumber(times), ...(first !== null && { to: placeOf(account, first) }) }
}

function writeAnswer({ status, code, injected }: Pick<Answer, 'status' | 'code' | 'injected'>): string {
  const answer = status === null ? 'no answer' : [status, code].filter((part) => part !== null).join(' ')
  return injected ? `${answer}, made by a fault` : answer
}
