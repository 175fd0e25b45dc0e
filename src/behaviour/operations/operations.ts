import type { OperationBehaviour } from '../operation.ts'
import type { ShownData } from '../presentation.ts'
import { listDmarc } from './dmarc.ts'
import { createDomainGroup, deleteDomainGroup, listDomainGroups, updateDomainGroup } from './domain-groups.ts'
import { addDomains, deleteDomains, listDomains } from './domains.ts'

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
