import type { Choices } from '../contract/choices.ts'
import { HarError } from '../exchanges/har/file.ts'
import { HarRecording, type RecordingCounts } from '../exchanges/har/reader.ts'
import { plural } from '../ground/show.ts'
import { nextTurn } from '../ground/timers.ts'
import { type Conclusion, Judge } from '../judge/judge.ts'
import { optIn } from '../server/option.ts'
import { type Execution, Interrupted } from './execution.ts'
import { UsageError } from './options.ts'

export const SOLE_WRITER = optIn(
  'No other client changed the accounts during the recordings, so what was seen once stays as it is until the recording shows a change.',
)

export interface RecordedTraffic {
  conclusion: Conclusion
  /** The base URL of the service, and all keys that were found. */
  target: string | undefined
  secrets: readonly string[]
  /** What is missing for a passing result, and what else the user should know, in sentences. */
  failures: readonly string[]
  warnings: readonly string[]
  /** What was left out, such as `1 to other addresses`; an empty text if that is nothing. */
  leftOut: string
}

interface RecordingTerms {
  choices: Choices
  baseUrl: string | undefined
  soleWriter: boolean
}

/** How many exchanges are judged before a signal is looked for. */
const UNINTERRUPTED = 100

/**
 * Judges a service by recordings. After a signal, the result covers what was judged until then.
 * @throws UsageError for files that are no recordings of the service; `Interrupted` if nothing was judged yet
 */
export async function judgeRecordings(
  files: readonly string[],
  { choices, baseUrl, soleWriter }: RecordingTerms,
  execution: Execution,
): Promise<RecordedTraffic> {
  const { signal } = execution
  try {
    const recording = await HarRecording.open(files, { contract: choices.contract, baseUrl, signal })
    const { size, secrets, baseUrl: target } = recording
    execution.show(`0 of ${size} exchanges judged`)
    const judge = new Judge({ choices, isSoleWriter: soleWriter })
    let done = 0
    try {
      for (const { exchange, isAfterGap } of recording.exchanges()) {
        if (isAfterGap) judge.forget()
        judge.take(exchange)
        if (++done % UNINTERRUPTED !== 0) continue
        execution.show(`${done} of ${size} exchanges judged`)
        // A signal arrives only in between.
        await nextTurn()
      }
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
    }
    return { conclusion: judge.conclude(), target, secrets, ...describe(recording, signal.aborted) }
  } catch (error) {
    throw error instanceof HarError ? new UsageError(`${execution.name}: ${error.message}`) : error
  }
}

function describe({ baseUrl: service, size, tally, hosts }: HarRecording, isStopped: boolean) {
  const { lost, problems, broken } = tally
  const remedy = service === undefined ? ' Say with --base-url where the service is.' : ''
  const isUnreadable = size === 0 && lost > 0
  const nothing = isUnreadable
    ? `No request to the service can be read. ${problems[0] ?? ''}`
    : `No request went to ${service ?? 'a path of the service'}. ${hosts}${remedy}`
  const stopped = 'It was told to stop before all exchanges were judged.'
  const others = lost - problems.length
  const asides = Object.entries(ASIDES).flatMap(([kind, words]) => {
    const count = tally[kind as keyof typeof ASIDES]
    return count > 0 ? [`${count} ${words}`] : []
  })
  return {
    failures: [...broken, ...(isStopped ? [stopped] : []), ...(size > 0 ? [] : [nothing])],
    warnings: [
      ...(isUnreadable ? problems.slice(1) : problems),
      ...(others > 0 ? [`${plural(others, 'more entry', 'more entries')} cannot be read.`] : []),
    ],
    leftOut: asides.join(', '),
  }
}

const ASIDES = {
  elsewhere: 'to other addresses',
  preflight: 'of a browser that asked whether a page may call the service',
  cache: 'answered by the cache of a browser',
  fulfilled: 'answered by a test, a tool or a service worker itself',
  repeated: 'recorded a second time',
} as const satisfies Partial<Record<keyof RecordingCounts, string>>
