import { parentPort, workerData } from 'node:worker_threads'
import { Investigation } from '../conformance/investigation.ts'
import { readChoices } from '../contract/choices.ts'
import type { Exchange, SeenBody, SeenHeaders } from '../exchanges/exchange.ts'
import { answerJudgeRequest, type JudgeAnswer, type JudgeRequest, type JudgeStart } from './judge.ts'

const { overlays, isSoleWriter } = workerData as JudgeStart
void begin()

async function begin(): Promise<void> {
  const investigation = await Investigation.begin({ choices: await readChoices(overlays), isSoleWriter })
  parentPort?.on('message', (request: JudgeRequest) => void answer(investigation, request))
  say({ value: 'ready' })
}

async function answer(investigation: Investigation, request: JudgeRequest): Promise<void> {
  try {
    const own = typeof request === 'string' ? request : { take: restored(request.take) }
    say({ value: await answerJudgeRequest(investigation, own) })
  } catch (error) {
    say({ failure: (error as Error)?.stack ?? String(error) })
  }
}

function say(given: JudgeAnswer): void {
  parentPort?.postMessage(given)
}

/** Restores the classes of objects, which are lost when a message is sent to a thread. */
function restored({ request, response, ...rest }: Exchange): Exchange {
  return {
    ...rest,
    request: { ...request, ...restoredParts(request) },
    response: response && { ...response, ...restoredParts(response) },
  }
}

function restoredParts({ headers, body }: { headers: SeenHeaders; body: SeenBody }): {
  headers: SeenHeaders
  body: SeenBody
} {
  const own = Object.assign(Object.create(null), headers)
  if (!body.isKnown) return { headers: own, body }
  const { buffer, byteOffset, byteLength } = body.bytes
  return { headers: own, body: { isKnown: true, bytes: Buffer.from(buffer, byteOffset, byteLength) } }
}
