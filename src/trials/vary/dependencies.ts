import { isDeepStrictEqual } from 'node:util'
import type { Alternative } from '../../contract/choices.ts'
import { checkContent, EvidenceError, readText } from '../../evidence/evidence-input.ts'
import { isObject, type Json, parseJson } from '../../ground/json.ts'
import { shorten } from '../../ground/show.ts'

/** The verdict about an alternative. */
export type VaryVerdict = 'depends' | 'tolerates' | 'not reached' | 'flaky' | 'inconclusive'

/** The differing parts of a response, shortened for a report. */
export interface ShownResponse {
  /** Absent if no response was sent. */
  status?: number
  /** The fields that differ. */
  headers?: Readonly<Record<string, string>>
  /** Absent if it does not differ. */
  body?: string
}

/** The first response that differs from the response under our choice, in the same state and at the same instant. */
export interface FirstDifference {
  request: { request_id: string; method: string; path: string; body?: string }
  expected: ShownResponse
  received: ShownResponse
  /** The first difference between the bodies, in words. */
  body_difference?: string
}

/** The report about one alternative. */
export interface AlternativeReport {
  /** The id of its assumption. */
  id: string
  /** Its number within the assumption, from 1. */
  alternative: number
  verdict: VaryVerdict
  /** The text of the specification about it, or a note that there is none. */
  spec: string
  chosen: Json
  value: Json
  /** Whether the user accepts that the command depends on it. */
  accepted?: true
  /** The reason if it was not decided, or not reached although it was tried. */
  reason?: string
  first_difference?: FirstDifference
  /** The end of a command that failed with it. */
  exit_code?: number
  signal?: string
  timed_out?: true
  /** The names of the failed tests, if the output of the command has them. */
  tests?: readonly string[]
  /** The last lines of the output. */
  output?: string
  /** The duration of the command. */
  seconds?: number
  /** Identifies the changes to the requests of the command. A later run with the same value has the same verdict. */
  fingerprint?: string
}

/** The run of the command without an alternative. */
interface BaselineReport {
  exit_code: number
  seconds: number
  requests: number
  /** Whether both runs had the same result and sent the same requests. */
  steady: boolean
}

/** The dependencies file: `--report json=FILE` writes it, and `--since FILE` reads it. */
export interface Dependencies {
  command: readonly string[]
  baseline: BaselineReport
  /** How often the command was started, including the baselines. */
  runs: number
  alternatives: readonly AlternativeReport[]
}

/** The largest file that can be a report, in bytes. */
const LARGEST_DEPENDENCIES = 64 << 20

/**
 * Reads the dependencies that an earlier run of the same command has found. @throws EvidenceError, also if the file is
 * about another command or another contract
 */
export async function readEarlier(
  file: string,
  command: readonly string[],
  ids: readonly string[],
): Promise<Dependencies> {
  const fail = (reason: string) => new EvidenceError(file, '', reason)
  const text = await readText(file, LARGEST_DEPENDENCIES, 'report of vary')
  const found = parseJson(text, (reason) => fail(`${reason} ${REMEDY}`))
  if (!isObject(found) || !Array.isArray(found['alternatives'])) throw fail(`This is no report of vary. ${REMEDY}`)
  await checkContent(file, 'dependencies', found)
  const dependencies = found as unknown as Dependencies
  const unknown = dependencies.alternatives.find(({ id }) => !ids.includes(id))
  const isSame = isDeepStrictEqual(dependencies.command, command)
  if (isSame && unknown === undefined) return dependencies
  const other = isSame
    ? `another contract, which has an assumption ${shorten(unknown?.id ?? '')}`
    : `another command (${shorten(dependencies.command.join(' '))})`
  throw fail(`This is about ${other}. Leave --since out, and write a new file.`)
}

const REMEDY = 'Name a file that vary has written with --report json=FILE.'

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
