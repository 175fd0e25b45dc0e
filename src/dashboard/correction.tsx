import { structuredPatch } from 'diff'
import { formatJson, parseJson } from './formatting.ts'
import type { Schemas } from './responses.ts'
import { Copyable } from './ui/button.tsx'
import { Part, Prose } from './ui/marks.tsx'

/** How many equal lines are shown beside a difference. */
const BESIDE = 3
/** After this many changed lines, everything counts as changed. */
const MOST_CHANGES = 2_000

type Explanation = Schemas['Explanation']

/** The accepted request that is nearest to the sent one: what has to change, the difference, and the command. */
export function CorrectionView({ explanation: { correction, exchange } }: { explanation: Explanation }) {
  if (correction === null) return null
  const { changes, before, curl, request } = correction
  const { method, path, query } = exchange
  const { body, body_size, truncated } = exchange.request
  // A text that is no JSON has no lines of its own to compare with.
  const isJson = [body, request.body].every((text) => !text || parseJson(text) !== undefined)
  const write = (line: string, text: string | null) =>
    `${line}\n${text && isJson ? formatJson(parseJson(text)) : (text ?? '')}`.trimEnd()
  const sent = write(`${method} ${query === '' ? path : `${path}?${query}`}`, body)
  return (
    <Part title="A request that the service accepts now">
      <ul class="quotes stack">
        {changes.map((change) => (
          <li key={change}>
            <Prose text={change} />
          </li>
        ))}
      </ul>
      <Difference sent={sent} accepted={write(`${request.method} ${request.path}`, request.body)} />
      {body === null && body_size > 0 && <p class="soft">The service did not read the body that was sent.</p>}
      {truncated && <p class="soft">The journal keeps only the beginning of the body that was sent.</p>}
      {before.length > 0 && <p>First:</p>}
      {before.map((command) => (
        <Copyable key={command} text={command} label="Copy the command that comes first" />
      ))}
      {before.length > 0 && <p>Then:</p>}
      <Copyable text={curl} label="Copy the command" />
    </Part>
  )
}

/** The lines that differ, with those beside them: first what was sent, and then what is accepted. */
function Difference({ sent, accepted }: { sent: string; accepted: string }) {
  const options = { context: BESIDE, maxEditLength: MOST_CHANGES }
  const whole = [...sent.split('\n').map((line) => `-${line}`), ...accepted.split('\n').map((line) => `+${line}`)]
  const hunks = structuredPatch('', '', sent, accepted, '', '', options)?.hunks ?? [{ lines: whole }]
  if (hunks.length === 0) return <p class="soft">The method, the path and the body stay as they were sent.</p>
  return (
    <>
      <p class="soft" aria-hidden="true">
        <del>− Sent</del> <ins>+ Accepted</ins>
      </p>
      <ol class="difference" aria-label="What was sent, and what is accepted">
        {hunks.flatMap(({ lines }, index) => [
          ...(index > 0 ? [<li key={index}>…</li>] : []),
          ...lines
            .filter((line) => !line.startsWith('\\'))
            .map((line, place) => <Line key={`${index} ${place}`} line={line} />),
        ])}
      </ol>
    </>
  )
}

function Line({ line }: { line: string }) {
  const text = line.slice(1)
  if (line.startsWith(' ')) return <li>{text}</li>
  const [Mark, sign, word] = line.startsWith('-')
    ? (['del', '−', 'Sent'] as const)
    : (['ins', '+', 'Accepted'] as const)
  return (
    <li>
      <Mark>
        <span aria-hidden="true">{sign} </span>
        <span class="unseen">{word}: </span>
        <bdi>{text}</bdi>
      </Mark>
    </li>
  )
}
