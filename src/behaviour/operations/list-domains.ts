import { accept } from '../../domain/errors.ts'
import type { OperationBehaviour } from '../operation.ts'

/** Source: GET /domains, "all monitored domains of the account." */
export const listDomains: OperationBehaviour = {
  decide(_, account) {
    const make = () => ({ domains: [...account.domains.keys()] })
    return accept(account, { source: account.domains, variant: 'domains', make })
  },
  accepted: [() => ({})],
  refused: [],
}
