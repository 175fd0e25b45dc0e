import { frameRequest, frameResponse, membersOf, statusOf } from './framing.ts'
import { MessageReader, type RequestEditor } from './message-reader.ts'
import type { Draft, ProxyTraffic } from './traffic.ts'

/** How many requests of one connection may wait for a response. Further requests are not followed. */
export const PIPELINE_LIMIT = 1_000

/** Follows one connection in both directions. It delays no byte and changes only the bytes of Host. */
export class RelayedConnection {
  /** Reads what the client sends. */
  readonly requests: MessageReader
  /** Reads what the service sends. */
  readonly responses: MessageReader
  readonly #traffic: ProxyTraffic
  /** The requests whose response is not complete, in their order. */
  readonly #open: Draft[] = []
  /** The requests whose response was complete before the request. */
  readonly #early: Draft[] = []
  /** The request whose body is being sent. */
  #sending: Draft | undefined
  #began: { at: number; started: number }
  /** Whether the head of the response to the first open request has come. */
  #isAnswering = false
  /** Whether the client has announced that it sends no further request. */
  #isLast = false
  /** Whether the client has stopped sending. */
  #isEnding = false
  /** Why the bytes of the client are not followed now, although they may be valid. */
  #unreadReason = ''
  #endUnknown: (() => void) | undefined

  constructor(traffic: ProxyTraffic, editor: RequestEditor) {
    this.#traffic = traffic
    this.#began = traffic.now()
    this.requests = new MessageReader(
      {
        begin: () => {
          this.#began = traffic.now()
        },
        head: (head) => this.#beginRequest(head),
        body: (bytes) => this.#sending?.exchange.request.body.add(bytes),
        end: () => this.#endRequest(),
        lose: (reason) => this.#loseRequests(reason),
        unread: () => this.#beginUnknown(this.#unreadReason),
      },
      editor,
    )
    this.responses = new MessageReader({
      begin: () => {},
      head: (head) => this.#beginResponse(head),
      body: (bytes) => this.#open[0]?.exchange.response?.body.add(bytes),
      end: () => this.#endResponse(),
      lose: (reason) => this.#loseResponses(reason),
      unread: () => {},
    })
  }

  /** How many requests wait for the end of their response. */
  get open(): number {
    return this.#open.length
  }

  /** The client sends nothing more. Returns the bytes that were held back. */
  endRequests(): readonly Buffer[] {
    this.#isEnding = true
    return this.requests.finish()
  }

  /** The service sends nothing more. */
  endResponses(): void {
    this.responses.finish()
  }

  /** The connection is over. `reason` says why open exchanges stay incomplete, as a sentence. */
  end(reason: string): void {
    for (const draft of this.#early.splice(0)) {
      draft.exchange.request.body.drop(reason)
      draft.end()
    }
    for (const draft of this.#open.splice(0)) draft.end(reason)
    this.#endUnknown?.()
  }

  #beginRequest(head: Parameters<typeof frameRequest>[0]): ReturnType<typeof frameRequest> {
    if (this.#isLast) return { lost: 'goes on after its last request' }
    if (this.#open.length >= PIPELINE_LIMIT) return { lost: `has ${PIPELINE_LIMIT} requests without a response` }
    const framing = frameRequest(head)
    if (typeof framing === 'object') return framing
    const [method = '', target = '', version] = head.startLine.split(' ')
    const options = membersOf(head.fields, 'connection')
    this.#isLast = options.includes('close') || (version === 'HTTP/1.0' && !options.includes('keep-alive'))
    const draft = this.#traffic.begin({ method, target, ...head }, this.#began)
    this.#open.push(draft)
    this.#sending = draft
    return framing
  }

  #endRequest(): void {
    const draft = this.#sending
    this.#sending = undefined
    if (draft === undefined) return
    draft.isRequestOver = true
    this.#endEarly(draft)
  }

  #endEarly(draft: Draft): void {
    const place = this.#early.indexOf(draft)
    if (place < 0) return
    this.#early.splice(place, 1)
    draft.end()
  }

  #beginResponse(head: Parameters<typeof frameResponse>[0]): ReturnType<typeof frameResponse> {
    const draft = this.#open[0]
    if (draft === undefined) return { lost: 'has a response without a request' }
    const status = statusOf(head.startLine)
    const framing = frameResponse(head, draft.exchange.method)
    if (typeof framing === 'object') return framing
    // Interim responses come before the final response.
    if (status < 200) return 0
    this.#isAnswering = true
    draft.answer(head.startLine, head.fields)
    return framing
  }

  #endResponse(): void {
    if (!this.#isAnswering) return
    this.#isAnswering = false
    const draft = this.#open.shift()
    if (draft?.isRequestOver) draft.end()
    // If not, the rest of the request is still coming, or the connection is about to end.
    else if (draft !== undefined) this.#early.push(draft)
  }

  #loseRequests(reason: string): void {
    const draft = this.#sending
    this.#sending = undefined
    if (draft !== undefined) {
      draft.exchange.request.body.drop(`The request ${reason}.`)
      draft.isRequestOver = true
      this.#endEarly(draft)
    }
    // If the client has ended, an incomplete request changes nothing, or its own exchange reports it.
    if (!this.#isEnding && this.#unreadReason === '') this.#beginUnknown(`a request ${reason}`)
  }

  #loseResponses(reason: string): void {
    // This is reported only if the client sends more. For example, a service may close an idle connection with 408.
    this.#unreadReason = `a response ${reason}`
    this.requests.lose('is on a connection that is not followed any more')
    for (const draft of this.#open.splice(0)) draft.end(`The response ${reason}.`)
  }

  #beginUnknown(reason: string): void {
    this.#endUnknown ??= this.#traffic.beginUnknown(reason)
  }
}
