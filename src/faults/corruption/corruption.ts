import type { ResponseContract } from '../../contract/api.ts'
import type { Draw } from '../injection.ts'
import { type CorruptionKind, readBody } from './body.ts'
import { badEnvelope, extraField, malformedJson, missingField, unknownEnum, wrongType } from './breaches.ts'
import { compatible } from './compatible.ts'

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

/**
 * Changes the body of a genuine response in a way that the kind promises. The result was verified against the contract.
 * `undefined` if the body has nothing that can be changed so.
 */
export function corruptBody(
  kind: Corruption,
  genuine: Buffer,
  contract: ResponseContract,
  draw: Draw,
): CorruptedBody | undefined {
  const { candidates, verify }: CorruptionKind = KINDS[kind]
  const body = readBody(genuine, contract)
  const failed = new Set<string>()
  for (const { about, change, write } of candidates(body, draw)) {
    if (about !== undefined && failed.has(about)) continue
    const text = write()
    if (verify(text, body)) return { body: Buffer.from(text), change }
    if (about !== undefined) failed.add(about)
  }
  return undefined
}
