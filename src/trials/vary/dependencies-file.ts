import { isDeepStrictEqual } from 'node:util'
import type { Alternative } from '../../contract/choices.ts'
import { EvidenceError } from '../../evidence/evidence-error.ts'
import { readText } from '../../evidence/evidence-text.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { findViolation } from '../../ground/schema.ts'
import { shorten } from '../../ground/show.ts'
import type { AlternativeReport, Dependencies } from './dependencies.ts'

/** The schema of the parts that are read. docs/schemas has the complete schema. */
const SCHEMA: Json = {
  type: 'object',
  required: ['command', 'baseline', 'alternatives'],
  properties: {
    command: { type: 'array', minItems: 1, items: { type: 'string' } },
    baseline: { type: 'object', required: ['steady'], properties: { steady: { type: 'boolean' } } },
    alternatives: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'alternative', 'verdict', 'spec', 'chosen', 'value'],
        properties: {
          id: { type: 'string' },
          alternative: { type: 'integer', minimum: 1 },
          verdict: { enum: ['depends', 'tolerates', 'not reached', 'flaky', 'inconclusive'] },
          spec: { type: 'string' },
          chosen: { type: 'object' },
          value: { type: 'object' },
          reason: { type: 'string' },
          fingerprint: { type: 'string' },
          first_difference: {
            type: 'object',
            required: ['request'],
            properties: {
              request: {
                type: 'object',
                required: ['request_id', 'method', 'path'],
                properties: { request_id: { type: 'string' }, method: { type: 'string' }, path: { type: 'string' } },
              },
            },
          },
        },
      },
    },
  },
}

/** The largest file that can be a report, in bytes. */
export const LARGEST_DEPENDENCIES = 64 << 20

/** Reads the dependencies of a command. @throws EvidenceError */
export async function readDependenciesFile(path: string): Promise<Dependencies> {
  const text = await readText(path, LARGEST_DEPENDENCIES, 'report of vary')
  const found = readJson(text)
  if (!isObject(found)) throw new EvidenceError(path, '', `This is not valid JSON. ${REMEDY}`)
  const violation = await findViolation(SCHEMA, found)
  if (violation !== undefined) {
    throw new EvidenceError(
      path,
      violation.pointer,
      `This is no report of vary: the value ${violation.reason}. ${REMEDY}`,
    )
  }
  return found as unknown as Dependencies
}

const REMEDY = 'Name a file that vary has written with --report json=FILE.'

/**
 * Reads the dependencies that an earlier run of the same command has found. @throws EvidenceError, also if the file is
 * about another command or another contract
 */
export async function readDependencies(
  path: string,
  command: readonly string[],
  ids: readonly string[],
): Promise<Dependencies> {
  const dependencies = await readDependenciesFile(path)
  const unknown = dependencies.alternatives.find(({ id }) => !ids.includes(id))
  const isSame = isDeepStrictEqual(dependencies.command, command)
  if (isSame && unknown === undefined) return dependencies
  const other = isSame
    ? `another contract, which has an assumption ${shorten(unknown?.id ?? '')}`
    : `another command (${shorten(dependencies.command.join(' '))})`
  throw new EvidenceError(path, '', `This is about ${other}. Leave --since out, and write a new file.`)
}

/** The verdicts that stay valid until something changes. */
const LASTING: readonly string[] = ['depends', 'tolerates']

/** The known report of an alternative, if it changes the same parts of the same requests as in the earlier run. */
export function findKnown(
  { alternatives }: Dependencies,
  { id, number, assumption, value }: Alternative,
  fingerprint: string | undefined,
): AlternativeReport | undefined {
  const known = alternatives.find((each) => each.id === id && each.alternative === number)
  if (known === undefined || !LASTING.includes(known.verdict) || known.fingerprint !== fingerprint) return undefined
  const isSame =
    known.spec === assumption.spec &&
    isDeepStrictEqual(known.chosen, assumption.choice) &&
    isDeepStrictEqual(known.value, value)
  return isSame ? known : undefined
}
