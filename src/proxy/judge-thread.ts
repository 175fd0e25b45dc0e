import { parentPort, workerData } from 'node:worker_threads'
import { Investigation } from '../conformance/investigation.ts'
import { readChoices } from '../contract/choices.ts'
import type { Exchange, SeenBody, SeenHeaders } from '../exchanges/exchange.ts'
import type { JudgeAnswer, JudgeRequest, JudgeStart } from './judge.ts'

const { overlays, isSoleWriter } = workerData as JudgeStart
const investigation = await Investigation.begin({ choices: await readChoices(overlays), isSoleWriter })
parentPort?.on('message', (request: JudgeRequest) => void answer(request))
say('ready')

async function answer(request: JudgeRequest): Promise<void> {
  try {
    if (request.kind === 'forget') investigation.forget()
    else if (request.kind === 'conclude') say({ conclusion: investigation.conclude() })
    else say({ findings: await investigation.take(restored(request.exchange)) })
  } catch (error) {
    say({ failure: (error as Error)?.stack ?? String(error) })
  }
}

function say(given: JudgeAnswer): void {
  parentPort?.postMessage(given)
}

/** Restores the classes of objects, which are lost when a message is sent to a thread. */
function restored(exchange: Exchange): Exchange {
  const { request, response } = exchange
  return {
    ...exchange,
    request: { ...request, headers: restoredHeaders(request.headers), body: restoredBody(request.body) },
    response: response && {
      ...response,
      headers: restoredHeaders(response.headers),
      body: restoredBody(response.body),
    },
  }
}

function restoredHeaders(headers: SeenHeaders): SeenHeaders {
  return Object.assign(Object.create(null), headers)
}

function restoredBody(body: SeenBody): SeenBody {
  if (!body.isKnown) return body
  const { buffer, byteOffset, byteLength } = body.bytes
  return { isKnown: true, bytes: Buffer.from(buffer, byteOffset, byteLength) }
}
