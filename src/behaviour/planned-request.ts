/** A request that a user can send: a part of a correction, or a request that fills a gap in the coverage. */
export interface PlannedRequest {
  /** Whether it goes to the service or to its control plane. */
  plane: 'service' | 'admin'
  method: string
  /** Below the base URL of its plane, query included. */
  path: string
  /** The key of a request to the service; by default a valid one. */
  key?: 'valid' | 'wrong' | 'none'
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown
  /** The body is padded with spaces to this number of bytes. Only for ASCII bodies. */
  padTo?: number
  /** The number of times that it is sent; by default 1. */
  times?: number
}
