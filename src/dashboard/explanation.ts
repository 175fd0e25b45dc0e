import { copyable, copyButton } from './clipboard.ts'
import { bulletList, type Child, descriptionList, element, section } from './elements.ts'
import { formatCount, formatInstant, formatJson } from './formatting.ts'
import type { Explanation, Message, RequestProblem } from './responses.ts'

/** Everything that the control plane knows about one exchange. */
export function describeExplanation(explanation: Explanation): Child {
  const { summary, rules, assumptions, problems, fault, failure, correction, exchange } = explanation
  return [
    element('p', {}, summary),
    descriptionList(circumstancesOf(explanation)),
    section('The fault', fault && element('pre', {}, formatJson(fault))),
    section('Internal error', failure && element('pre', {}, failure)),
    section('Problems; the response reports the first one', bulletList(problems.map(problemItem))),
    correction &&
      section(
        'A request that the service accepts now',
        bulletList(correction.changes),
        [...correction.before, correction.curl].map(copyable),
      ),
    section(
      'Rules of the specification',
      bulletList(rules.map(({ id, says }) => [element('code', {}, id), ` ${says}`])),
    ),
    section('Assumptions', bulletList(assumptions.map(({ id, spec }) => [element('code', {}, id), ` ${spec}`]))),
    describeMessage('The request', exchange.request),
    describeMessage('The response', exchange.response),
    section(
      'Where the response violates the contract',
      exchange.violations.length > 0 && element('pre', {}, formatJson(exchange.violations)),
    ),
  ]
}

function circumstancesOf(explanation: Explanation): [name: string, value: Child][] {
  const { request_id, operation, account, clock, quota, documented, exchange } = explanation
  const basis = documented ? 'documented' : 'assumed; the specification does not say it'
  return [
    ['Request id', element('span', { class: 'mono' }, request_id)],
    ['Operation', operation],
    ['Account', account ?? 'none: no valid key'],
    ['Key', exchange.key],
    ['Clock', formatInstant(clock)],
    ['Quota', quota && `${quota.remaining} of ${quota.limit} left, until ${formatInstant(quota.resets_at)}`],
    ['Duration', `${exchange.duration_ms} ms`],
    ['Basis', exchange.injected ? 'injected; it does not show how the service behaves' : basis],
  ]
}

function problemItem({ code, field, message, received }: RequestProblem): Child {
  const text = typeof received === 'string' ? received : JSON.stringify(received)
  return [
    element('strong', {}, code),
    field && element('code', {}, ` ${field}`),
    ` ${message}`,
    received !== null && element('div', { class: 'soft' }, 'Received ', element('code', {}, text)),
  ]
}

/** Header fields and body. A body of JSON is formatJson; a button shows it as it was sent. */
function describeMessage(title: string, { headers, body, body_size, truncated }: Message): HTMLElement | undefined {
  const fields = descriptionList(Object.entries(headers)) ?? element('p', { class: 'soft' }, 'No headers.')
  if (body === null) return section(title, fields, element('p', { class: 'soft' }, 'No body.'))
  const size = formatCount(body_size, 'byte') + (truncated ? '; the journal keeps only the beginning.' : '')
  const pretty = prettyJson(body)
  const shown = element('pre', {}, pretty)
  const line = element(
    'div',
    { class: 'row' },
    element('p', { class: 'soft grow' }, size),
    pretty !== body && rawToggle(shown, body, pretty),
    copyButton(shown),
  )
  return section(title, fields, line, shown)
}

/** Indents a text that is JSON, and returns any other text unchanged. */
function prettyJson(text: string): string {
  try {
    return formatJson(JSON.parse(text))
  } catch {
    return text
  }
}

function rawToggle(shown: HTMLElement, raw: string, pretty: string): HTMLButtonElement {
  const toggle = element('button', { class: 'small', type: 'button', 'aria-pressed': 'false' }, 'As sent')
  toggle.addEventListener('click', () => {
    const pressed = toggle.ariaPressed === 'false'
    toggle.ariaPressed = String(pressed)
    shown.textContent = pressed ? raw : pretty
  })
  return toggle
}
