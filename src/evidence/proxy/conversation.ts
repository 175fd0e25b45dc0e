import { frameRequest, frameResponse, membersOf, statusOf } from './framing.ts'
import { MessageReader, type RequestEditor } from './message-reader.ts'
import type { Draft, Traffic } from './traffic.ts'

/** Requests of one connection that were sent before the first of them was answered, of which the others are not followed. */
export const PIPELINE_LIMIT = 1_000

/** What is said on one connection, in both directions. Nothing in it delays or changes a byte but those of Host. */
export class Conversation {
  /** Reads what the client sends. */
  readonly requests: MessageReader
  /** Reads what the service sends. */
  readonly responses: MessageReader
  readonly #traffic: Traffic
  /** Those whose response is not complete, in their order. */
  readonly #open: Draft[] = []
  /** Those that were answered before they were complete. */
  readonly #early: Draft[] = []
  /** The one whose body is being sent. */
  #sending: Draft | undefined
  #began: { at: number; started: number }
  /** Whether the head of the response to the first one has come. */
  #isAnswering = false
  /** Whether the client has said that it sends no other request. */
  #isLast = false
  /** Whether the client sends nothing more. */
  #isEnding = false
  /** Why what the client sends now is not followed, although it may be understood. */
  #unreadReason = ''
  #endUnknown: (() => void) | undefined

  constructor(traffic: Traffic, editor: RequestEditor) {
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

  /** The client sends nothing more. Returns what was held back of it. */
  endRequests(): readonly Buffer[] {
    this.#isEnding = true
    return this.requests.finish()
  }

  /** The service sends nothing more. */
  endResponses(): void {
    this.responses.finish()
  }

  /** The connection is over. `reason` says why what is not complete will never be, as a sentence. */
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
    // An interim response comes before that to the request.
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
    // Otherwise the rest of the request is on its way, or the connection is about to end.
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
    // What has ended before it was complete changes nothing, or its own exchange tells of it.
    if (!this.#isEnding && this.#unreadReason === '') this.#beginUnknown(`a request ${reason}`)
  }

  #loseResponses(reason: string): void {
    // Such as a service that closes an idle connection with 408: nothing was sent that is not known.
    this.#unreadReason = `a response ${reason}`
    this.requests.lose('is on a connection that is not followed any more')
    for (const draft of this.#open.splice(0)) draft.end(`The response ${reason}.`)
  }

  #beginUnknown(reason: string): void {
    this.#endUnknown ??= this.#traffic.beginUnknown(reason)
  }
}
