import { readFile, stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Alternative } from '../../contract/choices.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { findViolation } from '../../ground/schema.ts'
import { shorten } from '../../ground/show.ts'
import type { AlternativeReport, Dependencies } from './dependencies.ts'

/** A file that cannot be used. The message is the end of a sentence about the option. */
export class DependenciesError extends Error {
  override name = 'DependenciesError'
}

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

/** Reads the dependencies of a command. @throws DependenciesError */
export async function readDependenciesFile(path: string): Promise<Dependencies> {
  const size = await stat(path).then(
    (facts) => facts.size,
    () => 0,
  )
  if (size > LARGEST_DEPENDENCIES) {
    throw new DependenciesError(`is too large; a report of vary has at most ${LARGEST_DEPENDENCIES} bytes`)
  }
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new DependenciesError(`cannot be read (${error.code}); name a file that --report json=FILE has written`)
  })
  const found = readJson(text)
  if (!isObject(found))
    throw new DependenciesError('is not valid JSON; name a file that --report json=FILE has written')
  const violation = await findViolation(SCHEMA, found)
  if (violation !== undefined) {
    throw new DependenciesError(`is no report of vary: the value at ${violation.pointer || '/'} ${violation.reason}`)
  }
  return found as unknown as Dependencies
}

/**
 * Reads the dependencies that an earlier run of the same command has found. @throws DependenciesError, also if the file
 * is about another command or another contract
 */
export async function readDependencies(
  path: string,
  command: readonly string[],
  ids: readonly string[],
): Promise<Dependencies> {
  const dependencies = await readDependenciesFile(path)
  if (!isDeepStrictEqual(dependencies.command, command)) {
    const other = shorten(dependencies.command.join(' '))
    throw new DependenciesError(`is about another command (${other}); leave --since out, and write a new file`)
  }
  const unknown = dependencies.alternatives.find(({ id }) => !ids.includes(id))
  if (unknown !== undefined) {
    throw new DependenciesError(
      `is about another contract, which has an assumption ${shorten(unknown.id)}; leave --since out, and write a new file`,
    )
  }
  return dependencies
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
