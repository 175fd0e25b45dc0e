import type { ComponentChildren } from 'preact'
import { Copyable } from '../controls/copyable.tsx'
import { Pairs } from '../controls/marks.tsx'
import { PLAYS_SERVICE } from '../facts.ts'
import { formatDuration, formatInstant, formatJson } from '../formatting.ts'
import { targetOf } from '../request-lines.ts'
import type { Explanation, RequestProblem } from '../responses.ts'
import { Changes } from './changes.tsx'
import { MessageView } from './message.tsx'
import { NextFault } from './next-fault.tsx'
import { Part } from './part.tsx'
import { Reproduction } from './reproduction.tsx'
import { RewindButton } from './rewind.tsx'

/** The explanation of an exchange by the control plane. */
export function ExplanationView({ explanation, gone }: { explanation: Explanation; gone: boolean }) {
  const { summary, rules, assumptions, problems, fault, failure, correction, exchange } = explanation
  return (
    <>
      <p class="summary">{summary}</p>
      <RewindButton exchange={exchange} gone={gone} />
      {correction !== null && (
        <Part title="A request that the service accepts now">
          <Bullets items={correction.changes} />
          {[...correction.before, correction.curl].map((command) => (
            <Copyable key={command} text={command} label="Copy the command" />
          ))}
        </Part>
      )}
      {/* A proxy cannot know the changes in the other service. */}
      {PLAYS_SERVICE && <Changes explanation={explanation} />}
      {problems.length > 0 && (
        <Part title="Problems; the response reports the first one">
          <Bullets items={problems.map((problem) => describeProblem(problem))} />
        </Part>
      )}
      {fault !== null && (
        <Part title="The fault">
          <pre>{formatJson(fault)}</pre>
        </Part>
      )}
      {failure !== null && (
        <Part title="Internal error">
          <pre>{failure}</pre>
        </Part>
      )}
      {exchange.violations.length > 0 && (
        <Part title="Where the response violates the contract">
          <pre>{formatJson(exchange.violations)}</pre>
        </Part>
      )}
      <Reproduction explanation={explanation} />
      <NextFault exchange={exchange} />
      <Part title="Circumstances">
        <Pairs entries={circumstancesOf(explanation)} />
      </Part>
      <MessageView title="The request" message={exchange.request} />
      <MessageView title="The response" message={exchange.response} />
      {rules.length > 0 && (
        <Part title="Rules of the specification">
          <Bullets items={rules.map(({ id, says }) => nameAndText(id, says))} />
        </Part>
      )}
      {assumptions.length > 0 && (
        <Part title="Assumptions">
          <Bullets items={assumptions.map(({ id, spec }) => nameAndText(id, spec))} />
        </Part>
      )}
    </>
  )
}

function Bullets({ items }: { items: readonly ComponentChildren[] }) {
  if (items.length === 0) return null
  return (
    <ul class="stack list">
      {items.map((item) => (
        <li>{item}</li>
      ))}
    </ul>
  )
}

/** A text that may be long. It scrolls, so the keyboard must be able to focus it. */
function LongText({ children }: { children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
    <bdi class="mono long-text" tabIndex={0}>
      {children}
    </bdi>
  )
}

function nameAndText(name: string, text: string) {
  return (
    <>
      <code>{name}</code> {text}
    </>
  )
}

function circumstancesOf(explanation: Explanation): [name: string, value: ComponentChildren][] {
  const { request_id, operation, account, clock, quota, documented, exchange } = explanation
  const basis = documented ? 'documented' : 'assumed; the specification does not say it'
  return [
    ['Path', <LongText>{targetOf(exchange)}</LongText>],
    ['Request id', <span class="mono">{request_id}</span>],
    ['Operation', operation],
    ['Account', account ?? 'none: no valid key'],
    ['Key', exchange.key],
    ['Clock', formatInstant(clock)],
    ['Quota', quota && `${quota.remaining} of ${quota.limit} left, until ${formatInstant(quota.resets_at)}`],
    ['Duration', formatDuration(exchange.duration_ms)],
    ['Basis', exchange.injected ? 'injected; it does not show how the service behaves' : basis],
  ]
}

function describeProblem({ code, field, message, received }: RequestProblem): ComponentChildren {
  return (
    <>
      <strong>{code}</strong>
      {field !== null && <code> {field}</code>} <bdi>{message}</bdi>
      {received !== null && (
        <div class="soft">
          Received <code>{typeof received === 'string' ? received : JSON.stringify(received)}</code>
        </div>
      )}
    </>
  )
}
