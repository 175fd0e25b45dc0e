import { chosenAccount, createParameter } from '../address.ts'
import { call } from '../client.ts'
import { Amount } from '../controls/amount.tsx'
import { Select } from '../controls/form.tsx'
import { useAnswer } from '../controls/loaded.tsx'
import { Part } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { formatNumber } from '../formatting.ts'
import type { DataOf, MonitoredDomain } from '../responses.ts'

type Change = DataOf<'getPolicyChange'>
type Mail = NonNullable<Change['mail']>['now']['delivered']

/** The policy of the question; empty for the next stricter one. */
const asked = createParameter({ tab: 'domains', name: 'if' })

const FATES = [
  ['delivered', 'Delivered'],
  ['quarantined', 'In spam folders'],
  ['rejected', 'Rejected'],
] as const

/** What another policy would do to the mail of the domain, to be read aloud and as figures. */
export function PolicyChange({ domain }: { domain: MonitoredDomain }) {
  const { domain: name, record, profile } = domain
  const account = chosenAccount.value
  const stricter = record?.p === 'none' ? 'quarantine' : 'reject'
  const policy = FACTS.policies.includes(asked.value) ? asked.value : stricter
  const of = JSON.stringify([account, name, policy])
  const { data, failure } = useAnswer([of, JSON.stringify([record, profile])], (signal) =>
    call('getPolicyChange', { parameters: { account, domain: name }, query: { p: policy }, signal }),
  )
  return (
    <Part title="If the policy were another one">
      <div class="row">
        <span>If the policy were</span>
        <Select
          aria-label="The policy of the question"
          value={policy}
          values={FACTS.policies}
          onChoose={(chosen) => (asked.value = chosen)}
        />
      </div>
      {failure !== undefined && (
        <p class="refusal bad">
          <ErrorText error={failure} />
        </p>
      )}
      {data !== undefined && (
        <>
          <p aria-live="polite">
            {data.mail === null && data.below.domains === 0
              ? 'Where the senders are not known, it is not known what another policy would do.'
              : data.message}
          </p>
          {data.mail !== null && data.mail.messages > 0 && <Table mail={data.mail} policy={policy} />}
        </>
      )}
    </Part>
  )
}

function Table({ mail, policy }: { mail: NonNullable<Change['mail']>; policy: string }) {
  return (
    <div class="table">
      <table aria-label="What happens to the messages">
        <thead>
          <tr>
            <th>Messages</th>
            <th class="number">Today</th>
            <th class="number">{`With ${policy}`}</th>
          </tr>
        </thead>
        <tbody>
          {FATES.map(([fate, words]) => (
            <tr key={fate}>
              <td>{words}</td>
              <Cell mail={mail.now[fate]} name="today" />
              <Cell mail={mail.changed[fate]} name={`with ${policy}`} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** On a narrow screen, the table has no head, so each figure has its name. */
function Cell({ mail, name }: { mail: Mail; name: string }) {
  return (
    <td class="number">
      <Amount count={mail.messages} />
      <span class="only-narrow"> {name}</span>
      <div class="soft">{describeOrigins(mail)}</div>
    </td>
  )
}

function describeOrigins({ passing, misconfigured, forwarded, forged }: Mail): string {
  const legitimate = passing + misconfigured + forwarded
  const parts = [
    ...(legitimate > 0 ? [`${formatNumber(legitimate)} legitimate`] : []),
    ...(forged > 0 ? [`${formatNumber(forged)} forged`] : []),
  ]
  return parts.join(', ')
}
