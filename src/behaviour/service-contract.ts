import { type Operation, pointerOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { ContractError } from '../contract/contract-error.ts'
import type { MonitoredDomain } from '../domain/account.ts'
import { simulatedTraits } from '../domain/simulator.ts'
import type { OperationBehaviour, ServiceContract } from './operation.ts'

export interface ServiceOptions {
  /** By operationId. */
  behaviours: Readonly<Record<string, OperationBehaviour>>
  /** Whether the names of domains under understudy.test define their special properties. */
  simulator: boolean
}

const NO_TRAITS: Partial<MonitoredDomain> = {}

/** @throws ContractError for an operation without a behaviour. */
export function bindBehaviours(contract: Contract, { behaviours, simulator }: ServiceOptions): ServiceContract {
  const bound = new Map(contract.operations.map((operation) => [operation, findBehaviour(operation, behaviours)]))
  return {
    ...contract,
    behaviourOf: (operation) => bound.get(operation) as OperationBehaviour,
    traitsOf: simulator ? simulatedTraits : () => NO_TRAITS,
  }
}

function findBehaviour(operation: Operation, behaviours: ServiceOptions['behaviours']): OperationBehaviour {
  const behaviour = Object.hasOwn(behaviours, operation.id) ? behaviours[operation.id] : undefined
  if (behaviour !== undefined) return behaviour
  const reason = `No behaviour is written for the operation ${operation.id}.`
  throw new ContractError('openapi.yaml', pointerOf(operation), reason)
}
