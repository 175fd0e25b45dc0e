import type { Script } from '../script.ts'
import { StoreError } from '../store-error.ts'
import type { CommandOptions, RedisReply, StoreConnection } from './connection.ts'
import type { Membership } from './membership.ts'

/** The connection for work that must stop once servers with another contract have taken over. */
export class GuardedConnection implements StoreConnection {
  readonly #inner: StoreConnection
  readonly #membership: Membership

  constructor(inner: StoreConnection, membership: Membership) {
    this.#inner = inner
    this.#membership = membership
  }

  run(script: Script, keys: readonly string[], args: readonly string[], options?: CommandOptions): Promise<RedisReply> {
    return this.#refusal() ?? this.#inner.run(script, keys, args, options)
  }

  send(command: readonly string[], options?: CommandOptions): Promise<RedisReply> {
    return this.#refusal() ?? this.#inner.send(command, options)
  }

  duplicate(): StoreConnection {
    return new GuardedConnection(this.#inner.duplicate(), this.#membership)
  }

  get patience() {
    return this.#inner.patience
  }

  get state() {
    return this.#inner.state
  }

  get clock() {
    return this.#inner.clock
  }

  get figures() {
    return this.#inner.figures
  }

  listen(listener: Parameters<StoreConnection['listen']>[0]): () => void {
    return this.#inner.listen(listener)
  }

  close(): void {
    this.#inner.close()
  }

  #refusal(): Promise<never> | undefined {
    const { state, isDisplaced } = this.#membership
    if (!isDisplaced || state.isReady) return undefined
    const error = new StoreError('unavailable', state.reason)
    error.reported = true
    return Promise.reject(error)
  }
}
