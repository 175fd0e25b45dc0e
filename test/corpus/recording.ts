import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { EvidenceReport } from '../../src/evidence/report.ts'
import type { Json } from '../../src/ground/json.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { Surface } from './play.ts'

const pairs = (fields: object) =>
  Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ({ name, value }))

export interface Recording {
  /** What is sent to it is noted. */
  surface: Surface
  entries: Json[]
}

/** Notes what is sent and answered, as a recorder does. */
export function record(surface: Surface): Recording {
  const entries: Json[] = []
  const recorded: Surface = {
    ...surface,
    async send(method, target, headers, body) {
      const received = await surface.send(method, target, headers, body)
      const type = body === undefined || 'content-type' in headers ? {} : { 'content-type': 'application/json' }
      entries.push(
        entryOf({
          method,
          url: `https://dmarc.example${target}`,
          after: entries.length * 10,
          time: 1,
          request: {
            headers: pairs({ ...headers, ...type }),
            ...(body !== undefined && {
              postData: { mimeType: 'application/json', text: body.toString('base64'), encoding: 'base64' },
              bodySize: body.length,
            }),
          },
          response: { status: received.status, headers: pairs(received.headers) },
          content: { size: received.text.length, text: received.text },
        }),
      )
      return received
    },
  }
  return { surface: recorded, entries }
}

/** Whether `check` takes an entry for an exchange: no preflight, and no id of X, which looks blacked out. */
function isExchange(entry: Json): boolean {
  const { url, headers } = entry['request'] as { url: string; headers: readonly { name: string }[] }
  const isPreflight = headers.some(({ name }) => name === 'access-control-request-method')
  return /\/api\/v1(?:\/|$)/.test(url) && !url.endsWith('=XXXXXXXX') && !isPreflight
}

/** Judges a recording by `check`: the service did nothing wrong, and its clients what the file `findings.json` says. */
export async function expectAccusesClientsOnly(
  { entries }: Recording,
  { violations }: { violations: { count: number } },
): Promise<void> {
  const folder = temporaryFolder()
  const [har, json] = [join(folder, 'corpus.har'), join(folder, 'report.json')]
  writeFileSync(har, harOf(entries))
  const { code, stderr } = await runInProcess(['check', har, '--report', `json=${json}`])
  expect(code, stderr).toBe(0)
  const { exchanges, findings }: EvidenceReport = JSON.parse(readFileSync(json, 'utf8'))
  expect(exchanges).toBe(entries.filter(isExchange).length)
  // The stand-in's own verdict is about the same requests, and knows more of them than a recording shows.
  const found = findings.reduce((sum, { count = 1 }) => sum + count, 0)
  expect(found).toBeGreaterThan(violations.count / 2)
  const lines = findings.map(({ id, count = 1 }) => `  ${JSON.stringify(id)}: ${count}`).sort()
  await expect(`{\n${lines.join(',\n')}\n}\n`).toMatchFileSnapshot('findings.json')
}
