import { describe, expect, it } from 'vitest'
import { startUnderstudy, type Understudy } from '../../src/start/server.ts'
import { withKey } from '../support/account.ts'
import { controlApi, expectDocumented } from '../support/control-plane.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { callOf, operationsOf, type Played, writeJson, writePage } from './reference-page.ts'
import { type Call, KEY, NOW, STEPS, type Step } from './reference-session.ts'

const document = controlApi.document.resolved
const operations = operationsOf(document)

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

  async play(step: Step): Promise<Played> {
    for (const call of step.before ?? []) await this.call(call)
    const described = operations.get(step.operation)
    if (described === undefined) throw new Error(`The document has no operation ${step.operation}.`)
    const call = callOf(step, described)
    if (step.streams === true) return { step, status: 200, answer: await this.#firstEvent(call) }
    const { status, body, text } = await this.call(call)
    if (step.filter === undefined) {
      const shown = JSON.stringify(body).replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:4010')
      return { step, status, answer: JSON.parse(shown) }
    }
    return { step, status, answer: text.split('\n').filter(step.filter.keeps).join('\n') }
  }

  /** What a stream sends when a request comes. */
  async #firstEvent({ path }: Call): Promise<string> {
    const { body } = await fetch(this.#server.adminUrl + path)
    if (body === null) throw new Error('There is no stream.')
    await this.call({ plane: 'service', method: 'GET', path: '/domains' })
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (/^data: .*\n\n/m.test(text)) break
    }
    const event = /^id: [\s\S]*/m.exec(text)?.[0] ?? ''
    return event.trim().replace(/^(data: .{100}).*$/m, '$1…')
  }
}

describe('docs/control-plane-reference.md', () => {
  it('shows what a server answers', async () => {
    await using server = await startUnderstudy({ fixture: 'empty', now: NOW, frozen: true })
    const reader = new Reader(server)
    const played: Played[] = []
    for (const step of STEPS) played.push(await reader.play(step))
    // `npx vitest run --mode whole test/admin/reference -u` writes the file.
    await expect(writePage(document, played)).toMatchFileSnapshot('../../docs/control-plane-reference.md')
  })

  it('has one example of each operation', () => {
    expect(STEPS.map(({ operation }) => operation).toSorted()).toEqual([...operations.keys()].toSorted())
  })
})
