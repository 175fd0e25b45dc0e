import { chosenAccount } from '../address.ts'
import { call } from '../client.ts'
import { Amount } from '../controls/amount.tsx'
import { useAnswer } from '../controls/loaded.tsx'
import { Badge, Part, type Tone } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { formatCount, formatDay } from '../formatting.ts'
import type { DataOf, MonitoredDomain } from '../responses.ts'

type Sender = NonNullable<DataOf<'getSenders'>['senders']>[number]

const KINDS: Readonly<Record<Sender['kind'], readonly [word: string, tone: Tone]>> = {
  own: ['own mail', ''],
  forwarded: ['passed on by others', ''],
  forged: ['forged', 'bad'],
}

/** Who sends in the name of a domain, how much of it passes, and why the rest does not. */
export function Senders({ domain }: { domain: MonitoredDomain }) {
  const { domain: name, record, profile } = domain
  const account = chosenAccount.value
  const of = JSON.stringify([account, name])
  const { data, failure } = useAnswer([of, JSON.stringify([record, profile])], (signal) =>
    call('getSenders', { parameters: { account, domain: name }, signal }),
  )
  return (
    <Part title="Who sends its mail">
      {failure !== undefined && (
        <p class="refusal bad">
          <ErrorText error={failure} />
        </p>
      )}
      {data === undefined && failure === undefined && <p class="soft">The senders are being loaded…</p>}
      {data?.note != null && <p class="soft">{data.note}</p>}
      {data?.senders?.length === 0 && <p class="soft">Receivers reported no mail of it.</p>}
      {data !== undefined && data.senders !== null && data.senders.length > 0 && (
        <>
          <p class="soft">
            {`${formatCount(data.messages ?? 0, 'message')} in the ${data.period_days} days up to ${formatDay(data.date)}. `}
            A message passes DMARC if SPF or DKIM is aligned: if it comes from a server that the domain lists (SPF), or
            has a valid signature of the domain (DKIM).
          </p>
          <Table senders={data.senders} />
        </>
      )}
    </Part>
  )
}

function Table({ senders }: { senders: readonly Sender[] }) {
  return (
    <div class="table">
      <table aria-label="Senders">
        <thead>
          <tr>
            <th>Sender</th>
            <th class="fit number">Messages</th>
            <th class="fit number">Pass</th>
            <th class="fit number">SPF</th>
            <th class="fit number">DKIM</th>
          </tr>
        </thead>
        <tbody>
          {senders.map(({ sender, name, kind, reason, messages, passing, spf_aligned, dkim_aligned }) => (
            <tr key={sender} data-sender={sender}>
              <td class="wide">
                <strong>{name}</strong> {kind !== 'own' && <Badge tone={KINDS[kind][1]}>{KINDS[kind][0]}</Badge>}
                <div class="soft">{reason}</div>
              </td>
              <td class="number fit">
                <Amount count={messages} />
                <span class="only-narrow"> messages</span>
              </td>
              <Cell part={passing} whole={messages} name="pass" />
              <Cell part={spf_aligned} whole={messages} name="SPF" />
              <Cell part={dkim_aligned} whole={messages} name="DKIM" />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** On a narrow screen, the table has no head, so each figure has its name. */
function Cell({ part, whole, name }: { part: number; whole: number; name: string }) {
  return (
    <td class="number fit">
      {describePart(part, whole)}
      <span class="only-narrow"> {name}</span>
    </td>
  )
}

/** A part in per cent. Only all and none are written as 100 and 0. */
function describePart(part: number, whole: number): string {
  if (part === 0 || part === whole) return part === 0 ? '0 %' : '100 %'
  return `${Math.min(99.9, Math.max(0.1, (part / whole) * 100)).toFixed(1)} %`
}
