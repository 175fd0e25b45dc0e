import { get } from 'node:http'
import { expect } from 'vitest'
import { it } from '../support/program.ts'
import { sendRequest } from '../support/request.ts'

const BODY = '\u0001'.repeat(10_240)
/** In milliseconds. A page is 8 MiB, and to make it takes longer than this. */
const LONGEST_PAUSE = 50

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

it('a journal that is full to its limit in bytes is read in pages, and keeps nobody waiting', async ({
  serveProcess,
}) => {
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
  for (let sent = 0; sent < 13_000; sent += 50) {
    await Promise.all(
      Array.from({ length: 50 }, () => sendRequest('POST', `${baseUrl}/domains`, BODY, { authorization })),
    )
  }
  const count = (await sendRequest('GET', `${adminUrl}/requests?limit=1`)).body.data.count as number
  expect(count).toBeGreaterThan(5_000)

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
  isRead = true
  await knocking
  pauses.sort((one, other) => one - other)
  const [usual, nearlyAll] = [pauses[pauses.length >> 1] ?? 0, pauses[Math.floor(pauses.length * 0.99)] ?? 0]
  console.info(
    `A journal of ${count} long bodies: ${pages} pages, ${Math.round(bytes / 1e6)} MB in ${Math.round(milliseconds)} ms; ` +
      `another client waits ${usual.toFixed(1)} ms, 99 of 100 times less than ${nearlyAll.toFixed(1)} ms`,
  )
  // More than any text can have: 2^29 characters.
  expect(bytes).toBeGreaterThan(2 ** 29)
  expect(nearlyAll).toBeLessThan(LONGEST_PAUSE)
}, 120_000)
