import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { EvidenceReport } from '../../src/evidence/report.ts'
import type { Json } from '../../src/ground/json.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ROWS } from './corpus.ts'
import { play, type Surface } from './play.ts'
import { openPort } from './surfaces.ts'

const pairs = (fields: object) =>
  Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ({ name, value }))

/** Notes what is sent and answered, as a recorder does. */
function record(surface: Surface, entries: Json[]): Surface {
  return {
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
}

/** Whether `check` takes an entry for an exchange: no preflight, and no id of X, which looks blacked out. */
function isExchange(entry: Json): boolean {
  const { url, headers } = entry['request'] as { url: string; headers: readonly { name: string }[] }
  const isPreflight = headers.some(({ name }) => name === 'access-control-request-method')
  return /\/api\/v1(?:\/|$)/.test(url) && !url.endsWith('=XXXXXXXX') && !isPreflight
}

it('A recording of the whole corpus accuses nobody but clients, of what no state of the account makes right', async () => {
  const surface = await openPort()
  const entries: Json[] = []
  const recorded = record(surface, entries)
  for (const row of ROWS) await play(recorded, row)
  const verdict = await surface.service.verdict()
  await surface.stop()

  const folder = temporaryFolder()
  const [har, json] = [join(folder, 'corpus.har'), join(folder, 'report.json')]
  writeFileSync(har, harOf(entries))
  const { code, stderr } = await runInProcess(['check', har, '--report', `json=${json}`])
  expect(code, stderr).toBe(0)
  const { exchanges, findings }: EvidenceReport = JSON.parse(readFileSync(json, 'utf8'))
  expect(exchanges).toBe(entries.filter(isExchange).length)
  // The stand-in's own verdict is about the same requests, and knows more of them than a recording shows.
  const found = findings.reduce((sum, { count = 1 }) => sum + count, 0)
  expect(found).toBeGreaterThan(verdict.violations.count / 2)
  const lines = findings.map(({ id, count = 1 }) => `  ${JSON.stringify(id)}: ${count}`).sort()
  await expect(`{\n${lines.join(',\n')}\n}\n`).toMatchFileSnapshot('findings.json')
})
