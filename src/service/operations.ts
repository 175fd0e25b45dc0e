import type { Contract } from '../contract/contract.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { unknownGroup } from '../domain/groups.ts'
import { simulatedTraits } from '../domain/simulator.ts'
import { WRITES } from '../domain/writes.ts'
import { dmarcRecords } from '../figures/figures.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Json } from '../ground/json.ts'
import type { Reading } from '../http/reply.ts'
import type { Store } from '../store/store.ts'
import type { Caller } from './gate.ts'

/** A request that obeys the contract, from a caller who may make it. */
export interface Call extends Caller {
  query: Record<string, string>
  body: Json
  contract: Contract
  store: Store
  /** Whether domains under understudy.test say how they want to be treated. */
  simulator: boolean
}

export interface Change {
  ok: true
  data: Json
}

export type Outcome = Reading | Change | Refusal

export type Behaviour = (call: Call) => Awaitable<Outcome>

/** What the operations that read do. */
const READS: Readonly<Record<string, Behaviour>> = {
  listDmarc({ account, now, contract }) {
    const day = refreshDay(now, contract.settings.refresh)
    return reading(account.domains, `${account.seed} ${day}`, () => dmarcRecords(account, day, contract))
  },

  listDomains({ account }) {
    return reading(account.domains, 'domains', () => ({ domains: [...account.domains.keys()] }))
  },

  listDomainGroups({ account, query }) {
    const id = query['id']
    if (id === undefined) {
      return reading(account.groups, 'groups', () => ({
        groups: [...account.groups.values()],
        count: account.groups.size,
      }))
    }
    const group = account.groups.get(id)
    return group === undefined ? refuse(unknownGroup(id)) : reading(group, 'group', () => ({ group }))
  },
}

/** What each operation of the document does, by operationId; a change is answered once it is kept. */
export const OPERATIONS: Readonly<Record<string, Behaviour>> = {
  ...READS,
  ...Object.fromEntries(
    Object.entries(WRITES).map(([id, decide]): [string, Behaviour] => [
      id,
      ({ account, store, query, body, now, contract, simulator }) => {
        const write = { query, body, now, traits: simulator ? simulatedTraits : undefined }
        const decision = store.update(account.id, (state) => decide(write, state, contract))
        return whenReady(decision, (decided) => (decided.ok ? { ok: true, data: decided.value } : decided))
      },
    ]),
  ),
}

function reading(source: object, variant: string, make: () => unknown): Reading {
  return { ok: true, source, variant, make }
}
