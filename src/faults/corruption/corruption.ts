import type { ResponseContract } from '../../contract/api.ts'
import type { Draw } from '../injection.ts'
import { badEnvelope, extraField, missingField, unknownEnum, wrongType } from './breaches.ts'
import { compatible } from './compatible.ts'
import type { CorruptionKind } from './corruption-kind.ts'
import { malformedJson } from './malformed-json.ts'
import { parseResponse } from './parsed-response.ts'

export interface CorruptedBody {
  body: Buffer
  /** A description of the change, one sentence for the journal. */
  change: string
}

const KINDS = {
  'malformed-json': malformedJson,
  'missing-field': missingField,
  'wrong-type': wrongType,
  'extra-field': extraField,
  'unknown-enum': unknownEnum,
  'bad-envelope': badEnvelope,
  compatible,
} satisfies Readonly<Record<string, CorruptionKind>>

/** The values of the field `corrupt` of a rule. With `compatible`, a response still obeys the contract. */
export type Corruption = keyof typeof KINDS

/** How many candidates for one kind of place may fail before the rest of that kind is skipped. */
const PATIENCE = 3

/**
 * Changes the body of a genuine response in a way that the kind promises. The result was verified against the contract,
 * and the other parts keep their bytes. `undefined` if the body has nothing that can be changed so.
 */
export function corruptBody(
  kind: Corruption,
  body: Buffer,
  contract: ResponseContract,
  draw: Draw,
): CorruptedBody | undefined {
  const { candidates, verify }: CorruptionKind = KINDS[kind]
  const response = parseResponse(body, contract)
  const failures = new Map<unknown, number>()
  for (const { about, make } of candidates(response, draw)) {
    const failed = failures.get(about) ?? 0
    if (failed === PATIENCE) continue
    const { text, change } = make()
    if (verify(text, response)) return { body: Buffer.from(text), change }
    failures.set(about, failed + 1)
  }
  return undefined
}
