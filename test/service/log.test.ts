import { describe, expect, it } from 'vitest'
import { formatLine, prettify } from '../../src/cli/log.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import type { Store } from '../../src/store/store.ts'
import { withKey } from '../support/account.ts'
import { askControl } from '../support/control-plane.ts'
import { overMemory } from '../support/failing-store.ts'
import { API_KEY, startService } from '../support/service.ts'

const TOKEN = 'a-token-for-the-control-plane'
const SANDBOX = 'sandbox_checkout'
const NAME = `sandbox:${hashKey(SANDBOX).slice(0, 8)}`

interface Line {
  [field: string]: unknown
  msg: string
  path?: string
  account?: string
}

/** A log that keeps its lines as the program writes them. */
function keepLines() {
  const lines: Line[] = []
  function keep(level: number) {
    return (fields: object, message: string) => lines.push(JSON.parse(formatLine(level, fields, message)))
  }
  return { lines, log: { info: keep(30), warn: keep(40), error: keep(50) } }
}

/** Holds both forms of every line to have none of these words. */
function expectNothing(lines: readonly Line[], ...words: string[]): void {
  for (const line of lines.map((each) => JSON.stringify(each))) {
    for (const word of words) {
      expect(line).not.toContain(word)
      expect(prettify(line, false)).not.toContain(word)
    }
  }
}

describe('The log', () => {
  it.each<[what: string, secret: string, path: string, key: string | null]>([
    ['the key of the request', API_KEY, `/domains/${API_KEY}`, API_KEY],
    ['a wrong key of the request', 'hunter2hunter2', '/domains/hunter2hunter2', 'hunter2hunter2'],
    ['a key of an account in capitals', 'NORTHERN-LAMPS', '/domains/NORTHERN-LAMPS/x', API_KEY],
    ['a sandbox', SANDBOX, `/domains/${SANDBOX}`, null],
  ])('does not show %s', async (_, secret, path, key) => {
    const { lines, log } = keepLines()
    const service = await startService({ log, adminToken: TOKEN, fixture: { keys: [{ key: 'northern-lamps' }] } })
    await service.send('GET', path, undefined, { authorization: key && `Bearer ${key}` })
    expect(lines).toMatchObject([{ msg: 'request', path: expect.stringMatching(/^\/api\/v1\/domains/) }])
    expectNothing(lines, secret, secret.slice(4))
  })

  it('shows no secret in an error of the control plane, and names the sandbox that it is about', async () => {
    const { lines, log } = keepLines()
    const store = failingStore(`${SANDBOX} in /data/account-${SANDBOX}.json with ${API_KEY} and northern-lamps`)
    const service = await startService({ log, store, apiKey: 'northern-lamps' })
    await service.send('GET', '/domains', undefined, withKey(SANDBOX))
    const { status } = await askControl(service, 'POST', `/accounts/${SANDBOX}/keys`, {})
    expect(status).toBe(500)
    const line = lines.at(-1)
    expect(line?.msg).toBe('The control plane failed to answer.')
    expect(line?.path).toBe(`/__admin/accounts/${NAME}/keys`)
    expect(JSON.stringify(line)).toContain(`/data/account-${NAME}.json`)
    expectNothing(lines, 'checkout', API_KEY.slice(13), 'northern')
  })

  it('shows an error with its kind, its stack and its cause', () => {
    const err = new TypeError('Nothing was written.', { cause: new Error('ENOSPC') })
    const line = formatLine(50, { err }, 'The request failed.')
    const { name: type, message } = err
    expect(JSON.parse(line)).toMatchObject({ level: 50, msg: 'The request failed.', err: { type, message } })
    const stack =
      /error: The request failed\.\nTypeError: Nothing was written\.\n +at .*\n[\s\S]*\[cause\]: Error: ENOSPC\n/
    expect(prettify(line, false)).toMatch(stack)
  })
})

/** A store of which every change fails with this message, which is also in the cause and in a field. */
function failingStore(message: string): Store {
  const error = Object.assign(new Error(message, { cause: new Error(message) }), { path: message, socket: { message } })
  return overMemory(() => ({
    update() {
      throw error
    },
  }))
}
