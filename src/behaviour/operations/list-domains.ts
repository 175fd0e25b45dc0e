import { arrange } from '../../behaviour/presentation.ts'
import { accept } from '../../domain/errors.ts'
import type { OperationBehaviour } from '../operation.ts'
import { spellingOf } from '../presentation.ts'
import { textsIn } from '../shown-data.ts'

/** Source: GET /domains, "all monitored domains of the account." */
export const listDomains: OperationBehaviour = {
  decide(_, account, { settings }) {
    const make = () => {
      const names = arrange(account.domains.keySeq().toArray(), settings.domainOrder, (name) => name)
      return {
        domains: settings.spelling === 'as-sent' ? names.map((name) => spellingOf(name, account, settings)) : names,
      }
    }
    return accept(account, { source: account.domains, variant: 'domains', make })
  },
  shows: (data) => ({ lists: 'domains', domains: textsIn(data, 'domains') }),
  samples: [() => ({})],
}
