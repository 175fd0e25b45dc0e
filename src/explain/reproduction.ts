import { composeCurl, type ServerUrls } from '../coverage/curl.ts'
import type { Entry } from '../journal/entry.ts'
import { writePytest } from './pytest-file.ts'
import { type Scenario, type ScenarioSource, scenarioOf } from './scenario.ts'
import { writeVitest } from './vitest-file.ts'

/** Code that sends a request again and expects the same outcome. The control plane's document describes every field. */
export interface ReproductionReport {
  reproduction: { curl: string; vitest: string; pytest: string } | null
  reproduction_note: string | null
}

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
  const curl = writeReceived(scenario, urls, scenario.hasDisabledKey ? undefined : publicKey)
  const vitest = writeVitest(scenario)
  return {
    reproduction: { curl, vitest, pytest: writePytest(scenario, urls) },
    reproduction_note: remarks.length === 0 ? null : remarks.join(' '),
  }
}

/** The command that sends the original request of a scenario, for a POSIX shell. */
function writeReceived({ request }: Scenario, { baseUrl }: ServerUrls, publicKey: string | undefined): string {
  const { method, path, isBelowBase, headers, body } = request
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return composeCurl({
    method,
    url: (isBelowBase ? baseUrl : new URL(baseUrl).origin) + path,
    key: { secret: publicKey },
    // By default, curl would declare the body as a form.
    fields: body !== undefined && headers['content-type'] === undefined ? [...fields, 'Content-Type:'] : fields,
    body: body?.kind === 'bytes' ? body.bytes : body?.text,
  })
}
