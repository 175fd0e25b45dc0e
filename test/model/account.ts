import { expect } from 'vitest'
import { type AccountOfPool, secretOf } from './pool.ts'

export interface Group {
  id: string
  name: string
  domains: readonly string[]
}

export interface Domain {
  addedAt: number
  inUse: boolean
}

export interface Key {
  createdAt: number
  disabled: boolean
  /** By path. */
  windows: Map<string, { hour: number; used: number }>
}

/** One account as the specification has it. */
export class Account {
  readonly hasAccess: boolean
  readonly keys: ReadonlyMap<string, Key>
  readonly domains: Map<string, Domain>
  readonly groups: Group[] = []
  /** Of groups that were deleted. */
  readonly formerIds: string[] = []
  /** Moves whenever a domain comes or goes. */
  version = 0
  readonly #ahead: number

  constructor({ plan, keys, domains, ahead }: AccountOfPool) {
    this.hasAccess = plan !== 'below-stone'
    this.keys = new Map(
      keys.map(({ name, createdAt, disabled }) => [
        `Bearer ${secretOf(name)}`,
        { createdAt, disabled, windows: new Map() },
      ]),
    )
    this.domains = new Map(
      domains.map(({ name, addedAt, features }) => [name, { addedAt, inUse: features.length > 0 }]),
    )
    this.#ahead = ahead
  }

  /** What the account's clock shows while the machine's shows `machine`. */
  clock(machine: number): number {
    return machine + this.#ahead
  }

  /** Gives a group that was created the id that the service chose. */
  nameGroup(group: Group, id: string): void {
    const taken = this.formerIds.includes(id) || this.groups.some((other) => other.id === id)
    expect(taken, `The id ${id} was used before`).toBe(false)
    expect(id).toMatch(/^[0-9A-Za-z]{8}$/)
    group.id = id
  }
}
