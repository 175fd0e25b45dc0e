/** Whether a store works now. */
export type StoreState =
  /** `limitation` is a sentence about what the store still refuses, if anything is known. */
  | { readonly isReady: true; readonly limitation?: string | undefined }
  /** `reason` is a sentence for the operator of the service. */
  | { readonly isReady: false; readonly reason: string }

/** Tells whether the accounts of a server can be reached. It does not ask the store, because the state is known. */
export interface Readiness {
  readonly kind: 'memory' | 'folder' | 'redis'
  readonly state: StoreState
}

/** The readiness of a store that keeps everything in memory. */
export const ALWAYS_READY: Readiness = { kind: 'memory', state: { isReady: true } }
