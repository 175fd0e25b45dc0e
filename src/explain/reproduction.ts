import type { ServerUrls } from '../coverage/curl.ts'
import { quoteWord } from '../ground/shell-word.ts'
import type { Entry } from '../journal/entry.ts'
import { writePytest } from './pytest-file.ts'
import { type Scenario, type ScenarioSource, scenarioOf } from './scenario.ts'
import { writeVitest } from './vitest-file.ts'

/** Code that sends a request again and expects the same outcome. The control plane's document describes every field. */
export interface ReproductionReport {
  reproduction: { curl: string; vitest: string; pytest: string } | null
  reproduction_note: string | null
}

/** The methods for which curl has an option, or that it uses by default. */
const OWN_METHODS: Readonly<Record<string, string | undefined>> = { GET: '', HEAD: '-I' }

/** `publicKey` is a key of the account that is not secret, if it has one. */
export function reproduce(
  entry: Entry,
  source: ScenarioSource,
  urls: ServerUrls,
  publicKey: string | undefined,
): ReproductionReport {
  const found = scenarioOf(entry, source)
  if (!found.ok) return { reproduction: null, reproduction_note: found.why }
  const { scenario } = found
  const { remarks } = scenario
  return {
    reproduction: {
      curl: writeReceived(scenario, urls, scenario.hasDisabledKey ? undefined : publicKey),
      vitest: writeVitest(scenario),
      pytest: writePytest(scenario, urls),
    },
    reproduction_note: remarks.length === 0 ? null : remarks.join(' '),
  }
}

/** The command that sends the original request of a scenario, for a POSIX shell. */
function writeReceived({ request }: Scenario, { baseUrl }: ServerUrls, publicKey: string | undefined): string {
  const { method, path, isBelowBase, headers, body } = request
  const url = (isBelowBase ? baseUrl : new URL(baseUrl).origin) + path
  const words = ['curl', '-sS']
  const own = OWN_METHODS[method]
  if (own !== undefined && (own !== '' || body === undefined)) words.push(...(own === '' ? [] : [own]))
  else words.push('-X', quoteWord(method))
  // By default, curl expands braces and brackets to several URLs, and removes dot segments from the path.
  if (/[{}[\]]/.test(url)) words.push('-g')
  if (/\/\.\.?(?:[/?]|$)/.test(url)) words.push('--path-as-is')
  // The shell replaces the variable within double quotes.
  words.push(
    '-H',
    publicKey === undefined ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${publicKey}`),
  )
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoteWord(`${name}: ${value}`))
  // By default, curl would declare the body as a form.
  if (body !== undefined && headers['content-type'] === undefined) words.push('-H', 'Content-Type:')
  words.push(quoteWord(url))
  if (body === undefined) return words.join(' ')
  const text = 'text' in body ? body.text : undefined
  // No command-line argument can contain a NUL.
  if (text !== undefined && !text.includes('\0')) return [...words, '--data-raw', quoteWord(text)].join(' ')
  const bytes = body.kind === 'bytes' ? body.bytes : Buffer.from(body.text)
  return [
    'printf',
    '%s',
    quoteWord(bytes.toString('base64')),
    '|',
    'base64',
    '-d',
    '|',
    ...words,
    '--data-binary',
    '@-',
  ].join(' ')
}
