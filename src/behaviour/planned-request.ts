/** A request that somebody can send: a part of a correction, or of what would fill a gap in the coverage. */
export interface PlannedRequest {
  /** Whether it goes to the service or to its control plane. */
  plane: 'service' | 'admin'
  method: string
  /** Below the base URL of its plane, query included. */
  path: string
  /** Which key it carries, on the service's plane; a valid one unless it says otherwise. */
  key?: 'valid' | 'wrong' | 'none'
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown
  /** Spaces follow the body until it has so many bytes. For bodies of ASCII alone. */
  padTo?: number
  /** How often it is sent; once by default. */
  times?: number
}
