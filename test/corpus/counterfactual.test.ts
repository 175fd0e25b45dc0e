import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ArrivedRequest, answersUnder, answerUnder } from '../../src/behaviour/counterfactual.ts'
import { secretIn } from '../../src/behaviour/gate.ts'
import { bindBehaviours } from '../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { settingOf } from '../../src/contract/choices.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { timeOn } from '../../src/domain/clock.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import { openUnderstudy } from '../../src/server/understudy.ts'
import type { Store } from '../../src/store/store.ts'
import { choices } from '../support/choices.ts'
import { fieldsOf, type Received } from '../support/request.ts'
import { START } from '../support/service.ts'
import { ROWS, type Row } from './corpus.ts'
import { accountOf, play, type Surface } from './play.ts'
import { OPTIONS, overPort } from './surfaces.ts'

/** The last request of a row, as it met its account, and the answer that it got. */
interface Met {
  row: Row
  asked: ArrivedRequest
  received: Received
}

/** The file that says how the answers to rows change under alternatives: by `alternative, row`. */
const CHANGED: Readonly<Record<string, { answer?: string; data?: unknown }>> = JSON.parse(
  readFileSync(new URL('alternatives.json', import.meta.url), 'utf8'),
)
/** What is no matter of the account. */
const NOT_ALONE = ['quota-window']
/** What is no decision about a request and an account: quotas, and input that is no HTTP. */
const isDecision = ({ answer, send }: Row) => answer.code !== 'rate_limited' && !send.includes(' //')

let store: Store
const service = await openUnderstudy(OPTIONS, OPERATIONS, { open: (opened) => (store = opened.store) })
const surface = overPort(service)
const met = new Map<string, Met>()
for (const row of ROWS.filter(isDecision)) met.set(row.id, await meet(row))
await surface.stop()

async function meet(row: Row): Promise<Met> {
  let asked: ArrivedRequest | undefined
  const watched: Surface = {
    service,
    async send(method, target, headers, body) {
      const { state } = await store.read(accountOf(row))
      const fields = Object.fromEntries(fieldsOf(body, headers))
      asked = {
        method,
        target,
        headers: fields,
        body: { held: body ?? Buffer.alloc(0), size: body?.length ?? 0 },
        hasKey: (settings) => hasKey(fields['authorization'], state, settings),
        state,
        now: timeOn(state.clock, START),
      }
      return surface.send(method, target, headers, body)
    },
  }
  const { received } = await play(watched, row)
  return { row, asked: asked as ArrivedRequest, received }
}

function hasKey(
  authorization: string | undefined,
  { keys }: AccountState,
  settings: Parameters<ArrivedRequest['hasKey']>[0],
) {
  const secret = secretIn(authorization, settings)
  return secret !== undefined && keys.some(({ hash, disabled }) => hash === hashKey(secret) && !disabled)
}

describe('answersUnder', () => {
  it.each(ROWS.filter(isDecision).map(({ id }) => id))('answers like the service: %s', (id) => {
    const { asked, received } = met.get(id) as Met
    const { status, code, data } = answerUnder(asked, service.contract)
    expect(status).toBe(received.status)
    if (asked.method === 'HEAD') return
    expect(code).toBe(received.body.error?.code)
    if (code === undefined) expect(JSON.parse(JSON.stringify(data))).toEqual(received.body.data)
  })

  it('answers under each alternative as the snapshot of the alternatives says', async () => {
    const wrong: string[] = []
    let compared = 0
    for (const alternative of choices.alternatives) {
      const name = `${alternative.id}-${alternative.number}`
      const compiled = await choices.compile([alternative])
      const contract = bindBehaviours(compiled, { behaviours: OPERATIONS, simulator: false })
      // If the document was not compiled again, the setting is read when a request is answered.
      const setting = compiled.document === choices.contract.document ? settingOf(alternative) : undefined
      const other = { contract, ...(setting !== undefined && { setting }) }
      for (const [key, { answer, data }] of Object.entries(CHANGED)) {
        const found = met.get(key.slice(name.length + 2))
        if (!key.startsWith(`${name}, `) || found === undefined || !isComparable(alternative.id, found.row)) continue
        const { asked, received } = found
        const answers = [...answersUnder(asked, service.contract, [other])]
        const under = answers.at(-1)?.answer
        const [, code = received.body?.error?.code] = answer?.split(' ') ?? []
        compared++
        if (
          asked.method !== 'HEAD' &&
          under?.code !== (answer === undefined || answer.includes(' ') ? code : undefined)
        ) {
          wrong.push(`${key}: ${under?.code}`)
        } else if (data !== undefined && JSON.stringify(under?.data) !== JSON.stringify(data)) {
          wrong.push(`${key}: ${JSON.stringify(under?.data)}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(200)
  })
})

/**
 * Whether the account that the row met under our choices is that of another choice, too, and its answer is no list of
 * figures, of which the snapshot has a part only.
 */
function isComparable(id: string, { given, answer }: Row): boolean {
  const isOtherAccount = given.requests !== undefined || (given.account !== undefined && id === 'shared-domains')
  return !isOtherAccount && answer.records === undefined && !NOT_ALONE.includes(id)
}
