import type { ServerResponse } from 'node:http'
import { binaryOf, bytesOf, type Content } from '../content.ts'
import { addFields, endWithHeader } from './node-internals.ts'

/** Names and values in turns; for an object of them, Node needs twice the time. */
export type Headers = (string | number)[]

/** A response, ready to be sent. */
export interface Delivery {
  status: number
  headers: Headers
  /**
   * The first fields as the text that they are in a header, if that is known: `text` is the first `entries` entries of
   * `headers`, without the length, which comes first. It must be well-formed, because Node does not examine it.
   */
  written: { entries: number; text: string } | undefined
  body: Content
}

/** Responses whose header is written, with their bodies if they have one, and whether both may be sent as one text. */
let ready: { response: ServerResponse; body: Content | undefined; joined: boolean }[] = []
let scheduled = false

/**
 * Sends a response, once all requests that can be answered by now are answered. A client that waits for several
 * responses is then woken once and not for each, which takes the system most of its time: 20 % of a small request.
 */
export function post(response: ServerResponse, delivery: Delivery, bodiless: boolean): void {
  writeHeader(response, delivery)
  // A response that is not the service's own may be one that Node sends without a body, or in another form.
  ready.push({ response, body: bodiless ? undefined : delivery.body, joined: delivery.written !== undefined })
  if (scheduled) return
  scheduled = true
  setImmediate(sendAll)
}

/** Does something that answers many requests, and then sends all responses. */
export function postTogether(act: () => void): void {
  scheduled = true
  try {
    act()
  } finally {
    sendAll()
  }
}

/** @throws TypeError for a field that is not well-formed. */
function writeHeader(response: ServerResponse, { status, headers, written }: Delivery): void {
  if (written === undefined) {
    response.writeHead(status, headers)
    return
  }
  // Node must see the length, because it decides by it what happens to the connection.
  const [name = '', length = ''] = headers
  const { entries, text } = written
  response.sendDate = false
  response.writeHead(status, headers.length === entries ? [name, length] : [name, length, ...headers.slice(entries)])
  addFields(response, text)
}

function sendAll(): void {
  const responses = ready
  ready = []
  scheduled = false
  for (const { response, body, joined } of responses) {
    const text = body && joined ? binaryOf(body) : undefined
    if (body === undefined) response.end()
    else if (text === undefined) response.end(bytesOf(body))
    else endWithHeader(response, text)
  }
}
