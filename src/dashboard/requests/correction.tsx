import { diffArrays } from 'diff'
import { formatCount, formatJson, parseJson } from '../formatting.ts'
import type { Explanation } from '../responses.ts'
import { Copyable } from '../ui/button.tsx'
import { Part, Prose } from '../ui/marks.tsx'
import { targetOf } from './marks.tsx'

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

/** A line that is in both texts, only in the first (`sent`), or only in the second (`accepted`). */
interface ComparedLine {
  kind: 'same' | 'sent' | 'accepted'
  text: string
}

/** After this many changed lines, everything counts as changed. */
const MOST_CHANGES = 2_000

/** The lines of both texts in order. A changed line is first the sent one, and then the accepted one. */
function compareLines(sent: string[], accepted: string[]): ComparedLine[] {
  const all = [
    { removed: true, added: false, value: sent },
    { removed: false, added: true, value: accepted },
  ]
  const parts = diffArrays(sent, accepted, { maxEditLength: MOST_CHANGES }) ?? all
  return parts.flatMap(({ removed, added, value }) => {
    const kind = removed ? 'sent' : added ? 'accepted' : 'same'
    return value.map((text): ComparedLine => ({ kind, text }))
  })
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
