import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import {
  ACCOUNT_EVENTS,
  CONNECTION_FAULTS,
  CORRUPTIONS,
  FAULT_KINDS,
  type FaultKind,
  kindNameOf,
  phaseOf,
} from '../../src/faults/kinds.ts'
import { isObject, valueAt } from '../../src/ground/json.ts'
import { controlApi } from '../support/control-plane.ts'

const KINDS = Object.entries<FaultKind>(FAULT_KINDS)
const schema = valueAt(controlApi.document.source, '/components/schemas/FaultRule')

function schemaAt(pointer: string): unknown {
  return valueAt(schema, pointer)
}

describe('The table of kinds and the schema of fault rules', () => {
  it('have the same connection faults', () => {
    expect(schemaAt('/properties/connection/enum')).toEqual(CONNECTION_FAULTS)
  })

  it('have the same corruptions', () => {
    expect(schemaAt('/properties/corrupt/enum')).toEqual(CORRUPTIONS)
  })

  it('have the same events of an account', () => {
    expect(schemaAt('/properties/event/enum')).toEqual(ACCOUNT_EVENTS)
  })

  it('have the same fields that ask for a kind', () => {
    const fields = new Set(KINDS.map(([, { field }]) => field))
    const alternatives = schemaAt('/anyOf') as { required: string[] }[]
    // A jitter is a delay that chance decides.
    expect(new Set(alternatives.flatMap(({ required }) => required))).toEqual(new Set([...fields, 'jitter_ms']))
    for (const field of fields) expect(isObject(schemaAt(`/properties/${field}`)), field).toBe(true)
  })

  it.each(['before', 'after'])('forbid the phase `%s` to the same kinds', (phase) => {
    const other = phase === 'before' ? 'after' : 'before'
    const forbidden = (schemaAt('/not/anyOf') as { required: string[]; properties: Record<string, unknown> }[]).filter(
      ({ properties }) => valueAt(properties, '/phase/const') === phase,
    )
    const names = forbidden.flatMap(({ required, properties }) => {
      const field = required.find((each) => each !== 'phase') ?? ''
      const values = valueAt(properties, `/${field}/enum`) as string[] | undefined
      return values ?? KINDS.filter(([, kind]) => kind.field === field).map(([name]) => name)
    })
    const fixed = KINDS.filter(([, kind]) => kind.phase === other).map(([name]) => name)
    expect(names.toSorted()).toEqual(fixed.toSorted())
  })
})

describe('A kind of fault', () => {
  it.each(KINDS)('%s that needs the body of a response acts after there is one', (_, { phase, needsBody }) => {
    if (needsBody) expect(phase).toBe('after')
  })

  it.each(KINDS)('%s says in sentences what it did', (_, { action, effect, withoutBody }) => {
    if (action.type === 'cut' || action.type === 'send') expect(effect?.(20)).toMatch(/^[A-Z][^{}]+\.$/)
    if (withoutBody !== undefined) expect(withoutBody).toMatch(/^[A-Z].+\.$/)
  })

  it.each<[rule: FaultRule, name: string]>([
    [{}, 'delay'],
    [{ delay_ms: 5 }, 'delay'],
    [{ jitter_ms: 5 }, 'delay'],
    [{ delay_ms: 5, respond: { status: 503 } }, 'respond'],
    [{ delay_ms: 5, connection: 'drip' }, 'drip'],
    [{ corrupt: 'compatible' }, 'compatible'],
    [{ event: 'refresh' }, 'refresh'],
  ])('that %j asks for is `%s`', (rule, name) => {
    expect(kindNameOf(rule)).toBe(name)
  })

  it.each(['constructor', 'explode'])('`%s` does not exist', (connection) => {
    expect(() => kindNameOf({ connection })).toThrow(`There is no kind of fault ${connection}.`)
  })
})

describe('The phase of a rule', () => {
  const LIMITED: FaultRule = { respond: { error: 'rate_limited' } }

  it.each<[rule: FaultRule, phase: string]>([
    [LIMITED, 'before'],
    [{ delay_ms: 5 }, 'before'],
    [{ ...LIMITED, phase: 'after' }, 'after'],
    [{ connection: 'reset' }, 'before'],
    [{ connection: 'hang', phase: 'after' }, 'after'],
    [{ connection: 'truncate' }, 'after'],
    [{ connection: 'drip' }, 'after'],
    [{ corrupt: 'compatible' }, 'after'],
    [{ event: 'quota-used-up' }, 'before'],
    [{ event: 'window-end' }, 'after'],
  ])('of %j is `%s`', (rule, phase) => {
    expect(phaseOf(rule)).toBe(phase)
  })
})
