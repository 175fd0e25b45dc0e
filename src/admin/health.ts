import type { DataOf } from '../contract/control-plane.ts'
import { refuse } from '../domain/errors.ts'
import { type ControlDeps, type ControlOutcome, done } from './handler.ts'

type Running = Pick<ControlDeps, 'instance' | 'readiness'>

/** `instance` tells a client whether this is the server that it started. */
export function getHealth({ instance }: Running): ControlOutcome<DataOf<'getHealth'>> {
  return done({ status: 'ok', instance })
}

/** Whether the server can do its work. A balancer asks for this often, so it costs nothing. */
export function getReadiness({ instance, readiness }: Running): ControlOutcome<DataOf<'getReadiness'>> {
  const { kind, state } = readiness
  if (!state.isReady) return refuse({ code: 'unavailable', about: { expected: state.reason } })
  return done({ status: 'ready', instance, store: kind, limitation: state.limitation ?? null })
}
