import { refreshDay } from '../../domain/dmarc.ts'
import { accept } from '../../domain/errors.ts'
import { dmarcRecords } from '../../figures/figures.ts'
import { isObject } from '../../ground/json.ts'
import type { OperationBehaviour } from '../operation.ts'
import { arrange, itemsOf, spellingOf } from '../presentation.ts'

/** Source: GET /dmarc, "`data` is an array of DMARC status records, one per monitored domain." */
export const listDmarc: OperationBehaviour = {
  decide(_, account, contract, now) {
    const day = refreshDay(now, contract.settings.refresh)
    const make = () => {
      const { settings } = contract
      const records = arrange(dmarcRecords(account, day, contract), settings.recordOrder, ({ domain }) => domain)
      if (settings.spelling !== 'as-sent') return records
      return records.map((record) => ({ ...record, domain: spellingOf(record.domain, account, settings) }))
    }
    return accept(account, { source: account.domains, variant: `${account.seed} ${day}`, make })
  },
  shows: (data) => ({ lists: 'records', domains: itemsOf(data, domainOf) }),
  samples: [() => ({})],
}

function domainOf(record: unknown): string | undefined {
  return isObject(record) && typeof record['domain'] === 'string' ? record['domain'] : undefined
}
