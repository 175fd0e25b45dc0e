import { useSignal } from '@preact/signals'
import { accounts, snapshots } from '../account-data.ts'
import { chosenAccount, createParameter, type Place, subject } from '../address.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { filterBy, SearchField } from '../controls/form.tsx'
import { Link } from '../controls/link.tsx'
import { Loading, useAnswer } from '../controls/loaded.tsx'
import { Badge, Card, type Tone } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { formatCount, formatInstant, formatNumber } from '../formatting.ts'
import type { ComparedSide, Comparison } from '../responses.ts'
import { Asked } from './asked.tsx'
import { Covered } from './covered.tsx'
import { Holds } from './holds.tsx'

/** The name of a snapshot of the chosen account, which is compared in place of another account. */
const snapshot = createParameter({ tab: 'compare', name: 'snapshot' })

/** How many accounts the choice lists. The search finds the others. */
const LISTED = 50

const RESULTS: Readonly<Record<Comparison['result'], { words: string; tone: Tone }>> = {
  same: { words: 'No difference', tone: 'good' },
  different: { words: 'Different', tone: 'warn' },
  inconclusive: { words: 'Too little is known', tone: '' },
}

export function ComparePanel() {
  const [one, other, earlier] = [chosenAccount.value, subject.value, snapshot.value]
  if (other === undefined && earlier === '') return <OtherChoice />
  return <Report key={JSON.stringify([one, other, earlier])} one={one} other={other} earlier={earlier} />
}

/** The choice of what the account is compared with. */
function OtherChoice() {
  const search = useSignal('')
  const one = chosenAccount.value
  const others = (accounts.data.value?.ids ?? []).filter((id) => id !== one)
  const found = filterBy(others, search.value, (id) => [id])
  const kept = snapshots.data.value ?? []
  return (
    <div class="halves">
      <Card id="compare-accounts" title={`Compare ${one} with another account`}>
        <p class="soft">
          What the two hold, what their clients asked, and which parts of the contract they have shown. Two accounts
          that began alike show what two versions of a client do differently.
        </p>
        {others.length > LISTED && <SearchField label="Search accounts" text={search} />}
        {others.length === 0 && <p>There is no other account yet. “New…” above makes one.</p>}
        <Choices
          names={found.slice(0, LISTED)}
          placeOf={(id) => ({ tab: 'compare', subject: id })}
          label={(id) => `Compare ${one} with ${id}`}
        />
        {found.length > LISTED && <p class="soft">and {formatCount(found.length - LISTED, 'more account')}</p>}
      </Card>
      <Card id="compare-snapshots" title={`Compare ${one} with its earlier state`}>
        <p class="soft">A snapshot, taken under “Time”, is a copy of what the account held at that moment.</p>
        {kept.length === 0 && <p>The account has no snapshot.</p>}
        <Choices
          names={kept.map(({ name }) => name)}
          placeOf={(name) => ({ tab: 'compare', parameters: { snapshot: name } })}
          label={(name) => `Compare ${one} with its snapshot ${name}`}
        />
      </Card>
    </div>
  )
}

interface ChoicesProps {
  names: readonly string[]
  placeOf(name: string): Place
  label(name: string): string
}

function Choices({ names, placeOf, label }: ChoicesProps) {
  return (
    <ul class="ruled">
      {names.map((name) => (
        <li key={name}>
          <Link class="choice" to={placeOf(name)} label={label(name)}>
            <bdi>{name}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  )
}

interface ReportProps {
  one: string
  other: string | undefined
  earlier: string
}

function Report({ one, other, earlier }: ReportProps) {
  const times = useSignal(0)
  const query: Record<string, string> = earlier === '' ? { with: other ?? '' } : { snapshot: earlier }
  const { data, failure } = useAnswer([JSON.stringify([one, query]), times.value], (signal) =>
    call('compareAccount', { parameters: { account: one }, query, signal }),
  )
  return (
    <>
      <section class="card stack" aria-labelledby="compare-title">
        <div class="row">
          <h2 id="compare-title" class="grow">
            <bdi>{one}</bdi> compared with <bdi>{earlier === '' ? other : `its snapshot ${earlier}`}</bdi>
          </h2>
          {other !== undefined && earlier === '' && (
            <Link to={{ account: other, tab: 'compare', subject: one }}>Swap sides</Link>
          )}
          <Button words="Compare again" work={() => void times.value++} />
          <Link to={{ tab: 'compare', parameters: {} }}>Choose another</Link>
        </div>
        {failure !== undefined && (
          <div class="refusal bad" role="alert">
            <ErrorText error={failure} />
          </div>
        )}
        {data !== undefined && <Conclusion of={data} />}
        {data !== undefined && <Sides one={data.one} other={data.other} />}
      </section>
      {data === undefined ? failure === undefined && <Loading>Comparing…</Loading> : <Parts comparison={data} />}
    </>
  )
}

function Parts({ comparison: { one, other, holds, asked, covered } }: { comparison: Comparison }) {
  const sides = { one: nameOf(one), other: nameOf(other) }
  return (
    <>
      <Card id="compare-holds" title="What they hold">
        <Conclusion of={holds} />
        <Holds holds={holds} one={one} other={other} names={sides} />
      </Card>
      {asked && (
        <Card id="compare-asked" title="What they asked">
          <Conclusion of={asked} />
          <Asked asked={asked} one={one.account} other={other.account} />
        </Card>
      )}
      {covered && (
        <Card id="compare-covered" title="What they covered">
          <Conclusion of={covered} />
          <Covered covered={covered} names={sides} />
        </Card>
      )}
      {asked === null && (
        <p class="soft">An earlier state has made no requests of its own, so only what it holds is compared.</p>
      )}
    </>
  )
}

function nameOf({ account, snapshot }: ComparedSide): string {
  return snapshot === null ? account : `the snapshot ${snapshot}`
}

function Conclusion({ of: { result, message } }: { of: Pick<Comparison, 'result' | 'message'> }) {
  const { words, tone } = RESULTS[result]
  return (
    <p>
      <Badge tone={tone}>{words}</Badge> {message}
    </p>
  )
}

/** What is compared, in one line for each side, with the time of its clock. */
function Sides(sides: { one: ComparedSide; other: ComparedSide }) {
  return (
    <ul class="soft">
      {[sides.one, sides.other].map((side) => (
        <li key={nameOf(side)}>
          <Link to={{ account: side.account, tab: 'account' }}>
            <bdi>{nameOf(side)}</bdi>
          </Link>
          {`: ${formatCount(side.domains, 'domain')}, ${formatCount(side.groups, 'group')}, plan ${side.plan}, seed ${formatNumber(side.seed)}, clock ${formatInstant(side.now)}${side.frozen ? ' (frozen)' : ''}`}
        </li>
      ))}
    </ul>
  )
}
