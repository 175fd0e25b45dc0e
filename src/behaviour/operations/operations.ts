import type { OperationBehaviour } from '../operation.ts'
import type { ShownData } from '../shown-data.ts'
import { addDomains } from './add-domains.ts'
import { createDomainGroup } from './create-domain-group.ts'
import { deleteDomainGroup } from './delete-domain-group.ts'
import { deleteDomains } from './delete-domains.ts'
import { listDmarc } from './list-dmarc.ts'
import { listDomainGroups } from './list-domain-groups.ts'
import { listDomains } from './list-domains.ts'
import { updateDomainGroup } from './update-domain-group.ts'

/** The behaviour of each operation of openapi.yaml, by operationId. */
export const OPERATIONS = {
  listDmarc,
  listDomains,
  addDomains,
  deleteDomains,
  listDomainGroups,
  createDomainGroup,
  updateDomainGroup,
  deleteDomainGroup,
} as const satisfies Readonly<Record<string, OperationBehaviour>>

/** The operationId of an operation of the service. */
export type OperationId = keyof typeof OPERATIONS

/** What the data of a success of an operation shows; nothing if there is no such operation. */
export function shownBy(operationId: string | undefined, data: unknown): ShownData {
  const behaviours: Readonly<Record<string, OperationBehaviour>> = OPERATIONS
  return (operationId === undefined ? undefined : behaviours[operationId]?.shows?.(data)) ?? {}
}
