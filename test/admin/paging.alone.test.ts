import { get } from 'node:http'
import { expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { sendRequest } from '../support/request.ts'

const BODY = '\u0001'.repeat(10_240)
/** So many entries, with two bodies and a rule of 60 KiB as JSON, are longer than any text can be: 2^29 characters. */
const TOO_MANY = 3_200
const ENTRIES = budget({ quick: TOO_MANY / 16, full: TOO_MANY })

/** Fetches a page as bytes: to parse it here would take longer than to make it there. */
function fetchPage(url: string): Promise<{ status: number; bytes: number; next: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let bytes = 0
      let end = ''
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        end = (end + chunk.subarray(-64).toString('latin1')).slice(-64)
      })
      response.once('error', reject)
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, bytes, next: /"next":(\d+)\}\}$/.exec(end)?.[1] })
      })
    }).once('error', reject)
  })
}

it('a journal that is longer than any text is read in pages, and nobody waits for a page', async ({ serveProcess }) => {
  const { baseUrl } = await serveProcess([
    '--journal',
    '1000000',
    '--no-quotas',
    '--fixture',
    'empty',
    '--api-key',
    'k',
  ])
  const adminUrl = `${new URL(baseUrl).origin}/__admin`
  const authorization = 'Bearer k'
  await sendRequest('POST', `${adminUrl}/accounts/default/faults`, {
    respond: { status: 500, body: BODY },
    phase: 'after',
  })
  for (let sent = 0; sent < ENTRIES; sent += 50) {
    await Promise.all(
      Array.from({ length: 50 }, () => sendRequest('POST', `${baseUrl}/domains`, BODY, { authorization })),
    )
  }

  let isRead = false
  const pauses: number[] = []
  async function knock(): Promise<void> {
    while (!isRead) {
      const began = performance.now()
      await sendRequest('GET', `${adminUrl}/health`)
      pauses.push(performance.now() - began)
    }
  }
  const knocking = knock()
  const began = performance.now()
  let [pages, bytes] = [0, 0]
  for (let query = ''; ; ) {
    const page = await fetchPage(`${adminUrl}/requests?limit=1000${query}`)
    expect(page.status).toBe(200)
    pages++
    bytes += page.bytes
    if (page.next === undefined) break
    query = `&before=${page.next}`
  }
  const milliseconds = performance.now() - began
  const ofPage = milliseconds / pages
  isRead = true
  await knocking
  pauses.sort((one, other) => one - other)
  const [usual, nearlyAll] = [pauses[pauses.length >> 1] ?? 0, pauses[Math.floor(pauses.length * 0.99)] ?? 0]
  console.info(
    `A journal of ${ENTRIES} long bodies: ${pages} pages, ${Math.round(bytes / 1e6)} MB, ${Math.round(milliseconds)} ms; ` +
      `another client waits ${usual.toFixed(1)} ms, 99 of 100 times less than ${nearlyAll.toFixed(1)} ms`,
  )
  expect(bytes).toBeGreaterThan(2 ** 29 * (ENTRIES / TOO_MANY))
  // Ratios, because another program may take half of the machine.
  // Whoever comes in between waits for a turn, which is about a fifth of a page, and never for the whole page.
  expect(usual).toBeLessThan(ofPage / 2)
  // A few are no hundredth: another program, or the garbage collector, may hold up one or two of them.
  const late = pauses.filter((pause) => pause >= ofPage).length
  expect(late).toBeLessThanOrEqual(Math.max(2, pauses.length / 100))
}, 120_000)
