import { Copyable } from '../controls/copyable.tsx'
import { formatJson } from '../formatting.ts'
import type { FaultRule } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { quoteWord } from '../shell.ts'
import { readToken } from '../token.tsx'

/** A command that adds a rule to the chosen account. */
function curlOfRule(rule: FaultRule): string {
  const root = `${location.origin}${location.pathname.replace(/\/+$/, '')}`
  const token = readToken() === null ? '' : ' -H "Authorization: Bearer $ADMIN_TOKEN"'
  const url = `${root}/accounts/${encodeURIComponent(chosenAccount.value)}/faults`
  return `curl -sS${token} --json ${quoteWord(JSON.stringify(rule))} ${quoteWord(url)}`
}

/** A line of a test that adds a rule, with the library. */
function codeOfRule(rule: FaultRule): string {
  // Most names of fields need no quotes. The quotes of a text within are escaped. Another name would set the prototype.
  const literal = formatJson(rule)
    .replace(/^(\s*)"(?!__proto__")([A-Za-z_]\w*)":/gm, '$1$2:')
    .replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:')
  return `await account.faults.add(${literal})`
}

/** A rule as a command and as a line of a test. `name` says which rule. */
export function RuleAsCode({ name, rule }: { name: string; rule: FaultRule }) {
  return (
    <div class="stack">
      <Copyable text={curlOfRule(rule)} label={`Copy ${name} as curl`} />
      <Copyable text={codeOfRule(rule)} label={`Copy ${name} as code of a test`} />
    </div>
  )
}
