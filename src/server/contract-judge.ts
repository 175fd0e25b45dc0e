import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { widestOf } from '../contract/widest.ts'
import type { Exchange, SeenBody, SeenRequest, SeenResponse } from '../exchanges/exchange.ts'
import { Keys, pairsOf, readFields } from '../exchanges/keys.ts'
import { createReader } from '../exchanges/reading.ts'
import { redactKeys } from '../journal/redaction/secrets.ts'
import { judgeSingle } from '../judge/contract-check.ts'
import { isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'

/** What is wrong with a request or a response of the application. */
export interface ContractViolation
  extends Pick<JudgedDifference, 'method' | 'path' | 'status' | 'pointer' | 'rule' | 'asked' | 'answered'> {
  /** The same in every run, such as `contract-violation/listDomains/200/response/data/domains/type`. */
  id: string
  /** One or two sentences. They may quote what was sent, but never a key. */
  message: string
  /** The request is what the client did, and the response what the application did. */
  part: 'request' | 'response'
  /** The operationId; absent if the document has no such operation. */
  operation: string | undefined
  /** The X-Request-Id of the response. */
  requestId: string | undefined
}

/** A request as it was received, with its key. In `rawHeaders`, names and values alternate. */
export interface ArrivedRequest {
  method: string
  target: string
  rawHeaders: readonly string[]
  body: SeenBody
}

export interface ExchangeVerdict {
  violations: readonly ContractViolation[]
  /** Whether the operation reads a body, so that one that is not known was not checked. */
  readsBody: boolean
}

export interface ContractJudge {
  readonly basePath: string
  /** From how many bytes on only the length of a body counts. */
  readonly bodyLimit: number
  judge(received: ArrivedRequest, response: SeenResponse): ExchangeVerdict
}

/** Compiles the contract with the overlays in these files. @throws ContractError */
export async function openContractJudge(overlays: readonly string[]): Promise<ContractJudge> {
  const contract = await loadContract({ overlays: await readOverlays(overlays) })
  const widest = widestOf(contract)
  const read = createReader(contract)

  function judge({ method, target, rawHeaders, body }: ArrivedRequest, response: SeenResponse): ExchangeVerdict {
    const fields = pairsOf(rawHeaders)
    // The same key has another name in each exchange, so that keys are not kept.
    const keys = new Keys()
    const credentials = keys.credentialsOf(fields)
    const request: SeenRequest = { method, target, headers: readFields(fields, redactKeys), credentials, body }
    const requestId = response.headers['x-request-id']
    const exchange: Exchange = { id: requestId ?? '', at: 0, until: 0, overlaps: false, request, response }
    const seen = read(exchange)
    // Nobody stands between the application and its answer: it failed itself, and a page is its own.
    const failed = seen.failed === 'gateway' ? 'service' : seen.failed === 'page' ? undefined : seen.failed
    const reading = { ...seen, failed }
    const operation = reading.lenient.ok ? reading.lenient.operation : undefined
    const failures = judgeSingle(reading, widest).filter(isFailure)
    const readsBody = operation?.readsBody ?? false
    if (failures.length === 0) return { violations: [], readsBody }
    const redact = keys.redactorFor({ target, fields })
    const describe = ({ request_id: _, label, asked, answered, ...finding }: JudgedDifference): ContractViolation => ({
      ...finding,
      ...{ message: redact(finding.message), path: redact(finding.path), operation: operation?.id, requestId },
      ...(asked !== undefined && { asked: redact(asked) }),
      ...(answered !== undefined && { answered: redact(answered) }),
      part: partyOf({ id: finding.id, label }) === 'client' ? 'request' : 'response',
    })
    return { violations: failures.map(describe), readsBody }
  }

  return { basePath: contract.basePath, bodyLimit: contract.settings.bodyLimit, judge }
}
