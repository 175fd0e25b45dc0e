import type { Exchange, SeenBody } from '../../../src/evidence/exchange.ts'

/** What was exchanged, one line each, for whoever wants to know why a test failed. */
export function tellStory(exchanges: readonly Exchange[]): string {
  return exchanges.map(tell).join('\n')
}

function tell({ id, at, overlaps, request, response }: Exchange): string {
  const { method, target, credentials, body } = request
  const key = credentials.kind === 'sent' ? `${credentials.scheme} ${credentials.key}` : 'no key'
  const asked = `${new Date(at).toISOString()}${overlaps ? ' (overlaps)' : ''} ${key}: ${method} ${target} ${text(body)}`
  return `${id} ${asked}\n    → ${response?.status} ${response === undefined ? 'nothing' : text(response.body)}`
}

function text(body: SeenBody): string {
  const whole = body.isKnown ? body.bytes.toString() : body.reason
  return whole.length > 600 ? `${whole.slice(0, 600)}… (${whole.length})` : whole
}
