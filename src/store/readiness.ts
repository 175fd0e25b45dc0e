/** Whether a store does its work now. */
export type StoreState =
  /** `limitation` is a sentence about what it refuses all the same, if it is known to refuse something. */
  | { readonly isReady: true; readonly limitation?: string | undefined }
  /** `reason` is a sentence for the person who runs the service. */
  | { readonly isReady: false; readonly reason: string }

/** Tells whether the accounts of a server can be reached, without asking the store: it is known already. */
export interface Readiness {
  readonly kind: 'memory' | 'folder' | 'redis' | 'own'
  readonly state: StoreState
}

/** That of what keeps everything itself, in memory. */
export const ALWAYS_READY: Readiness = { kind: 'memory', state: { isReady: true } }
