import { refreshDay } from '../../domain/dmarc.ts'
import { accept } from '../../domain/errors.ts'
import { dmarcRecords } from '../../figures/figures.ts'
import type { OperationBehaviour } from '../operation.ts'

/** Source: GET /dmarc, "`data` is an array of DMARC status records, one per monitored domain." */
export const listDmarc: OperationBehaviour = {
  decide(_, account, contract, now) {
    const day = refreshDay(now, contract.settings.refresh)
    const make = () => dmarcRecords(account, day, contract)
    return accept(account, { source: account.domains, variant: `${account.seed} ${day}`, make })
  },
  accepted: [() => ({}), () => ({ times: 2 })],
  refused: [],
}
