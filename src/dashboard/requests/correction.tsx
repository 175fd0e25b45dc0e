import { Copyable } from '../controls/button.tsx'
import { Part, Prose } from '../controls/marks.tsx'
import { formatCount, formatJson, parseJson } from '../formatting.ts'
import type { Explanation } from '../responses.ts'
import { targetOf } from './exchange.ts'
import { type ComparedLine, compareLines } from './line-difference.ts'

/** How many equal lines are shown beside a difference. */
const BESIDE = 3

/** The accepted request that is nearest to the sent one: what has to change, the difference, and the command. */
export function CorrectionView({ explanation }: { explanation: Explanation }) {
  const { correction } = explanation
  if (correction === null) return null
  const { changes, before, curl } = correction
  return (
    <Part title="A request that the service accepts now">
      <ul class="stack list">
        {changes.map((change) => (
          <li key={change}>
            <Prose text={change} />
          </li>
        ))}
      </ul>
      <Difference explanation={explanation} correction={correction} />
      {before.length > 0 && <p>First:</p>}
      {before.map((command) => (
        <Copyable key={command} text={command} label="Copy the command that comes first" />
      ))}
      {before.length > 0 && <p>Then:</p>}
      <Copyable text={curl} label="Copy the command" />
    </Part>
  )
}

type Correction = NonNullable<Explanation['correction']>

function Difference({ explanation: { exchange }, correction }: { explanation: Explanation; correction: Correction }) {
  const { body, body_size, truncated } = exchange.request
  const { request } = correction
  // A text that is no JSON has no lines of its own to compare with.
  const isIndented = [body, request.body].every((text) => !text || parseJson(text) !== undefined)
  const sent = linesOf(exchange.method, targetOf(exchange), body, isIndented)
  const lines = compareLines(sent, linesOf(request.method, request.path, request.body, isIndented))
  const isUnread = body === null && body_size > 0
  const note = isUnread
    ? 'The service did not read the body that was sent, so it is not compared.'
    : truncated && 'The journal keeps only the beginning of the body that was sent.'
  if (lines.every(({ kind }) => kind === 'same'))
    return <p class="soft">The method, the path and the body stay as they were sent.</p>
  return (
    <>
      <p class="soft" aria-hidden="true">
        <del>− Sent</del> <ins>+ Accepted</ins>
      </p>
      <ol class="difference" aria-label="What was sent, and what is accepted">
        {foldLines(lines).map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </ol>
      {note && <p class="soft">{note}</p>}
    </>
  )
}

type FoldedLine = ComparedLine | { kind: 'folded'; count: number }

function Line({ line }: { line: FoldedLine }) {
  if (line.kind === 'folded') return <li class="soft">… {formatCount(line.count, 'equal line')}</li>
  const { kind, text } = line
  if (kind === 'same') return <li class="mono">{text}</li>
  const [Mark, sign, word] = kind === 'sent' ? (['del', '−', 'Sent'] as const) : (['ins', '+', 'Accepted'] as const)
  return (
    <li class="mono">
      <Mark>
        <span aria-hidden="true">{sign} </span>
        <span class="unseen">{word}: </span>
        <bdi>{text}</bdi>
      </Mark>
    </li>
  )
}

function linesOf(method: string, target: string, body: string | null, isIndented: boolean): string[] {
  const first = `${method} ${target}`
  if (body === null || body === '') return [first]
  return [first, ...(isIndented ? formatJson(parseJson(body)) : body).split('\n')]
}

/** Leaves out equal lines that are far from a difference. */
function foldLines(lines: readonly ComparedLine[]): FoldedLine[] {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - BESIDE), index + BESIDE + 1).some(({ kind }) => kind !== 'same')
  const folded: FoldedLine[] = []
  for (const [index, line] of lines.entries()) {
    const last = folded.at(-1)
    if (isNear(index)) folded.push(line)
    else if (last?.kind === 'folded') last.count++
    else folded.push({ kind: 'folded', count: 1 })
  }
  return folded
}
