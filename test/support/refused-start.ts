import { expect, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/server/options.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { PATIENCE, startPatient } from './replicas.ts'

/** A password of Redis, which no message may tell. */
export const PASSWORD = 'Sesame-77-Open'

/** A service until the test ends. `patience`: by what the times are multiplied that a step of the store may take. */
export async function startUntilTestEnd(options: ServerOptions, patience = PATIENCE) {
  const service = await startPatient({ fixture: 'empty', ...options }, { patience: () => patience })
  onTestFinished(() => service.stop())
  return service
}

/** What a start says that comes to nothing, in one line, which tells no password. */
export async function refusalOf(options: ServerOptions, patience?: number): Promise<string> {
  const error = await startUntilTestEnd(options, patience).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  const { message } = error as StoreError
  expect(message).not.toContain('\n')
  expect(message).not.toContain(PASSWORD)
  return message
}
