import { Copyable } from '../controls/copyable.tsx'
import { formatJson } from '../formatting.ts'
import type { FaultRule } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { quoteWord } from '../shell.ts'
import { readToken } from '../token.tsx'

function curlOfRule(rule: FaultRule): string {
  const root = `${location.origin}${location.pathname.replace(/\/+$/, '')}`
  const token = readToken() === null ? '' : ' -H "Authorization: Bearer $ADMIN_TOKEN"'
  const url = `${root}/accounts/${encodeURIComponent(chosenAccount.value)}/faults`
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
