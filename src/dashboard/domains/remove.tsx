import { openDialog } from '../controls/dialog.tsx'
import { Checkbox } from '../controls/fields.tsx'
import { FirstNames } from '../controls/marks.tsx'
import { ServiceWay } from '../controls/service-way.tsx'
import { formatCount, formatDeed } from '../formatting.ts'
import { addWords } from '../refusals.ts'
import type { MonitoredDomain } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { callService } from '../service-calls.ts'
import { limitOf } from './add.tsx'
import { refreshAfterChange } from './monitored.ts'
import { divideNames } from './name-list.ts'

/** Asks for confirmation, and removes the domains by the rules of the service. Resolves to false if it did not. */
export async function removeDomains(domains: readonly MonitoredDomain[]): Promise<boolean> {
  const account = chosenAccount.peek()
  const used = domains.filter(({ features }) => features.length > 0)
  const [only] = domains
  const title =
    domains.length === 1 && only ? `Remove ${only.domain}?` : `Remove ${formatCount(domains.length, 'domain')}?`
  const removed = await openDialog(title, <Question domains={domains} used={used} />, {
    submit: 'Remove',
    danger: true,
    async work(fields) {
      const names = (fields.has('leave') ? domains.filter(({ features }) => features.length === 0) : domains).map(
        nameOf,
      )
      let count = 0
      for (const part of divideNames(names, limitOf('deleteDomains'), (name) => name)) {
        try {
          await callService('deleteDomains', { body: { domains: part }, account })
        } catch (error) {
          if (count === 0) throw error
          await refreshAfterChange()
          throw addWords(error, ` ${formatDeed(count, 'domain', 'removed')}`)
        }
        count += part.length
      }
      await refreshAfterChange()
      return count
    },
    note: (count) => formatDeed(count, 'domain', 'removed'),
  })
  return removed !== undefined
}

function Question({ domains, used }: { domains: readonly MonitoredDomain[]; used: readonly MonitoredDomain[] }) {
  return (
    <>
      <FirstNames names={domains.map(nameOf)} />
      <p>
        {domains.length === 1 ? 'It is removed from its groups' : 'They are removed from their groups'}, too. A domain
        that is added again begins to count its messages from zero.
      </p>
      {used.length > 0 && (
        <>
          <p>
            {describeUse(domains.length, used.length)}, so the service is going to refuse a request that names{' '}
            {used.length === 1 ? 'it' : 'them'}.
          </p>
          {used.length < domains.length && <Checkbox name="leave" words="Leave out what is in use" />}
        </>
      )}
      <ServiceWay />
    </>
  )
}

function describeUse(count: number, used: number): string {
  if (count === 1) return 'A monitoring feature uses it'
  return used === 1 ? 'A monitoring feature uses one of them' : `Monitoring features use ${used} of them`
}

function nameOf({ domain }: MonitoredDomain): string {
  return domain
}
