import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import type { AccountState } from '../../src/domain/account.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { correctRequest } from '../../src/explain/correction.ts'
import { ACCOUNT, changeAccount } from '../support/account.ts'
import { actionsFor } from '../support/alternatives.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import type { TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { exchangeAsIs, headerOf } from '../support/wire.ts'
import { type SentRequest, spoiltRequest } from './mutations.ts'

const SEED = 20_260_115
const RUNS = 60
/** How many codes the corrections are of, at least. */
const CODES = 6

/** Sends the request and, where it is refused, the correction that its explanation gives; the code of the refusal. */
async function tryOut(service: ObservedService, sent: SentRequest, before: AccountState): Promise<string | undefined> {
  const answer = await exchangeAsIs(service, sent)
  await changeAccount(service, () => before)
  if (answer.status < 400) return undefined
  const { correction, code, summary } = await service.explain(headerOf(answer, 'x-request-id'))
  const story = `${sent.method} ${sent.target} ${sent.body} → ${summary} → ${JSON.stringify(correction)}`.slice(0, 1500)
  if (correction === null) throw new Error(`There is no correction: ${story}`)
  const requests = correction.requests as PlannedRequest[]
  const response = await sendPlanned(service, requests)
  await changeAccount(service, () => before)
  expect(response?.status, story).toBeLessThan(300)
  expect(correction.changes, story).toEqual(correction.changes.map(() => expect.stringMatching(ONE_SENTENCE)))
  expect(correction.changes.join('\n'), story).not.toMatch(/^Nothing|undefined/)
  const [only, another] = requests
  if (only !== undefined && another === undefined) expectNothingLeft(only, before, service)
  return code ?? undefined
}

/** What is right is left as it is. */
function expectNothingLeft(request: PlannedRequest, account: AccountState, { contract }: TestService): void {
  const { method, path, body } = request
  const text = JSON.stringify(body) as string | undefined
  const headers = ['content-type', 'application/json']
  const received = {
    method,
    target: contract.basePath + path,
    headers,
    body: text === undefined ? undefined : { text, size: text.length },
  }
  const again = correctRequest(received, [], account, contract)
  expect(again).toEqual({ before: [], request, changes: [expect.stringMatching(/^Nothing:/)] })
}

async function tryOutAll(service: ObservedService): Promise<Set<string>> {
  const { state: before } = await service.store.read('default')
  const groupId = [...before.groups.keys()].at(-1) ?? '00000000'
  const codes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.noBias(spoiltRequest), async (request) => {
      const code = await tryOut(service, request(groupId), before)
      if (code !== undefined) codes.add(code)
    }),
    { seed: SEED, numRuns: RUNS },
  )
  return codes
}

/** Choices that refuse the most; they do not exclude each other. */
const STRICT = [
  ...['unknown-query-parameters-1', 'international-names-1', 'deletion-of-members-1', 'empty-lists-2'],
  ...['body-limit-2', 'routing-1', 'shared-domains-1'],
]

describe(`of ${RUNS} requests, however they were spoilt, each that is refused has a correction that is accepted`, () => {
  it.each<[what: string, fixture: Fixture, choices: readonly string[], codes: number]>([
    ['an account with something of everything', ACCOUNT, [], CODES],
    ['nothing that can be removed', { domains: [{ name: 'busy.example', features: ['mta-sts'] }] }, [], 0],
    ['no plan with access', { ...ACCOUNT, plan: 'below-stone' }, [], 0],
    ['the strictest choices', ACCOUNT, STRICT, CODES],
  ])(`with %s (seed ${SEED})`, async (_, fixture, choices, least) => {
    const folder = temporaryFolder()
    const overlays = choices.map((name) => writeOverlay(folder, actionsFor(name), `${name}.yaml`))
    const service = await startObserved({ fixture, enforceQuotas: false, overlays })
    const codes = await tryOutAll(service)
    // Without this, a generator that lost a kind of request would weaken the test and nobody would know.
    expect(codes.size).toBeGreaterThanOrEqual(least)
  })
})
