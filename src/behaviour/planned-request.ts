import type { SampleRequest } from './operation.ts'

/** A request that a user can send: a part of a correction, or a sample for a gap in the coverage. */
export interface PlannedRequest extends Omit<SampleRequest, 'query'> {
  /** Whether it goes to the service or to its control plane. */
  plane: 'service' | 'admin'
  method: string
  /** Below the base URL of its plane, query included. */
  path: string
  /** The key of a request to the service; by default a valid one. */
  key?: 'valid' | 'none'
}
