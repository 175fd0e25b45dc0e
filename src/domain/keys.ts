/** An API key without its secret, which is never stored. */
export interface ApiKey {
  /** The part that is safe to show and to log. */
  id: string
  /** SHA-256 of the whole key, in hex. */
  hash: string
  label?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  createdAt: number
  disabled: boolean
}

/** Adds a key. If the account already has it, nothing changes. Source: "An account may hold several keys." */
export function addKey<State extends { keys: readonly ApiKey[] }>(state: State, key: ApiKey): State {
  return state.keys.some(({ hash }) => hash === key.hash) ? state : { ...state, keys: [...state.keys, key] }
}

/**
 * Source: "New keys have a one-week grace period with higher rate limits." `period` in seconds; its end is exclusive.
 */
export function isInGrace(key: ApiKey, now: number, period: number): boolean {
  return now < key.createdAt + period * 1000
}
