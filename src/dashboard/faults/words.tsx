import { quoteWord } from '../curl.ts'
import { FACTS } from '../facts.ts'
import { formatCount, formatJson, formatNumber } from '../formatting.ts'
import { chosenAccount, ROOT } from '../place.tsx'
import type { FaultRule } from '../responses.ts'
import { readToken } from '../token.tsx'
import { Copyable } from '../ui/button.tsx'
import { kindNamed, kindOf } from './draft.ts'

/** A rule as a sentence, such as "The next POST /domains: connection reset, after the change was made". */
export function describeRule(rule: FaultRule): string {
  const { skip = 0, probability, expires_after: life } = rule
  const conditions = [
    whenOf(rule),
    skip > 0 && `after ${formatCount(skip, 'other')}`,
    probability !== undefined && `with the probability ${probability}`,
    life !== undefined && `for ${life}`,
  ]
  return [`${requestsOf(rule)}: ${effectOf(rule)}`, ...conditions.filter(Boolean)].join(', ')
}

function requestsOf({ match = {}, times }: FaultRule): string {
  const { operation, method, path, key } = match
  const known = FACTS.operations.find(({ id }) => id === operation)
  const named = known === undefined ? [method, path ?? operation] : [known.method, known.path]
  const plain = named.filter(Boolean).join(' ') || (times === undefined || times === 1 ? 'request' : 'requests')
  const which = times === undefined ? 'Each' : times === 1 ? 'The next' : `The next ${formatNumber(times)}`
  return `${which} ${plain}${key === undefined ? '' : ` of the key ${key}`}`
}

function effectOf(rule: FaultRule): string {
  const { respond, connection, corrupt, event, delay_ms: delay = 0, jitter_ms: jitter = 0 } = rule
  const effects = [
    respond && ('error' in respond ? `error ${respond.error}` : `status ${respond.status}`),
    connection && `connection ${connection}`,
    corrupt && `response ${corrupt}`,
    event && `event ${event}`,
    delay + jitter > 0 && `delay of ${formatNumber(delay)}${jitter > 0 ? `–${formatNumber(delay + jitter)}` : ''} ms`,
  ]
  return effects.filter(Boolean).join(' and ') || 'nothing'
}

/** The phase in which the rule acts, if the kind of fault allows both phases. */
function whenOf(rule: FaultRule): string | false {
  if (kindNamed(kindOf(rule))?.phase !== 'either') return false
  return rule.phase === 'after' ? 'after the change was made' : 'before anything changes'
}

function curlOfRule(rule: FaultRule): string {
  const token = readToken() === null ? '' : ' -H "Authorization: Bearer $ADMIN_TOKEN"'
  const url = `${location.origin}${ROOT}/accounts/${encodeURIComponent(chosenAccount.value)}/faults`
  return `curl -sS${token} --json ${quoteWord(JSON.stringify(rule))} ${quoteWord(url)}`
}

/** A line of a test that adds a rule with the library. */
function codeOfRule(rule: FaultRule): string {
  // Removes the quotes of most field names. Quotes in texts are escaped. An unquoted `__proto__` would set the
  // prototype.
  const literal = formatJson(rule)
    .replace(/^(\s*)"(?!__proto__")([A-Za-z_]\w*)":/gm, '$1$2:')
    .replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:')
  return `await account.faults.add(${literal})`
}

/** A rule as a command and as a line of a test. `name` identifies the rule. */
export function RuleAsCode({ name, rule }: { name: string; rule: FaultRule }) {
  return (
    <div class="stack">
      <Copyable text={curlOfRule(rule)} label={`Copy ${name} as curl`} />
      <Copyable text={codeOfRule(rule)} label={`Copy ${name} as code of a test`} />
    </div>
  )
}
