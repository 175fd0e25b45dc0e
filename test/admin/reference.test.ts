import { describe, expect, it, onTestFinished } from 'vitest'
import type { Json } from '../../src/ground/json.ts'
import { startUnderstudy, type Understudy } from '../../src/start/server.ts'
import { withKey } from '../support/account.ts'
import { expectDocumented } from '../support/control-plane.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { callOf, operationsOf, type Played, writeJson, writePage } from './reference-page.ts'
import { type Call, KEY, NOW, STEPS, type Step } from './reference-session.ts'

/** A reader who makes the calls of the reference one after the other. */
class Reader {
  readonly #server: Understudy
  #requestId = ''

  constructor(server: Understudy) {
    this.#server = server
  }

  async call({ plane, method, path, body, keeps }: Call): Promise<Received> {
    const { adminUrl, baseUrl } = this.#server
    const target = path.replace('$REQUEST_ID', this.#requestId)
    const url = (plane === 'admin' ? adminUrl : baseUrl) + target
    const sent = body === undefined ? undefined : writeJson(body).replace('$REQUEST_ID', this.#requestId)
    const received = await sendRequest(method, url, sent, plane === 'admin' ? {} : withKey(KEY))
    if (plane === 'admin') expectDocumented(method, target, received)
    if (keeps === undefined) expect(received.status, `${method} ${path} → ${received.text}`).toBeLessThan(400)
    else this.#requestId = received.headers['x-request-id'] ?? ''
    return received
  }

  async play(step: Step, operations: ReturnType<typeof operationsOf>): Promise<Played> {
    for (const call of step.before ?? []) await this.call(call)
    const described = operations.get(step.operation)
    if (described === undefined) throw new Error(`The document has no operation ${step.operation}.`)
    const call = callOf(step, described)
    if (step.streams === true) return { step, status: 200, answer: await this.#firstEvent(call) }
    const { status, body, text } = await this.call(call)
    const lines = text.split('\n').filter((line, index) => step.filter?.keeps(line, index))
    const answer =
      step.filter === undefined
        ? JSON.parse(JSON.stringify(body).replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:4010'))
        : lines.join('\n')
    return { step, status, answer }
  }

  /** What a stream sends when a request comes. */
  async #firstEvent({ path }: Call): Promise<string> {
    const leaving = new AbortController()
    const { body } = await fetch(this.#server.adminUrl + path, { signal: leaving.signal })
    if (body === null) throw new Error('There is no stream.')
    await this.call({ plane: 'service', method: 'GET', path: '/domains' })
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (/^data: .*\n\n/m.test(text)) break
    }
    leaving.abort()
    const event = /^id: [\s\S]*/m.exec(text)?.[0] ?? ''
    return event.trim().replace(/^(data: .{100}).*$/m, '$1…')
  }
}

async function openSession(): Promise<{ reader: Reader; document: Json }> {
  const server = await startUnderstudy({ fixture: 'empty', now: NOW, frozen: true })
  onTestFinished(() => server.stop())
  const { body } = await sendRequest('GET', `${server.adminUrl}/openapi.json`)
  return { reader: new Reader(server), document: body }
}

describe('docs/control-plane-reference.md', () => {
  it('shows what a server answers', async () => {
    const { reader, document } = await openSession()
    const operations = operationsOf(document)
    const played: Played[] = []
    for (const step of STEPS) played.push(await reader.play(step, operations))
    // `npx vitest run test/admin/reference -u` writes the file.
    await expect(writePage(document, played)).toMatchFileSnapshot('../../docs/control-plane-reference.md')
  })

  it('has one example of each operation', async () => {
    const { document } = await openSession()
    const shown = STEPS.map(({ operation }) => operation)
    expect(shown.toSorted()).toEqual([...operationsOf(document).keys()].toSorted())
  })
})
