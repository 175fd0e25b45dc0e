import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { conform } from '../../src/behaviour/conformity.ts'
import { decide } from '../../src/behaviour/judge.ts'
import type { RequestSample } from '../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { Rehearsal } from '../../src/behaviour/rehearsal.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { Json } from '../../src/ground/json.ts'
import { START } from '../support/service.ts'

const contract = bindBehaviours(await loadContract(), { behaviours: OPERATIONS, simulator: false })
const empty = createAccount(await loadFixture('empty'), { id: 'samples', real: START, apiKey: 'k' }, contract)

/** What is answered to a sample for an empty account, and its fields with how many entries they have. */
function answerTo(operation: (typeof contract.operations)[number], sample: RequestSample): string {
  const rehearsal = new Rehearsal(contract, empty, START)
  rehearsal.allowAccess()
  const { query = {}, body } = sample(rehearsal)
  const read = body === undefined ? undefined : { ok: true as const, value: body, content: { held: '', size: 1 } }
  const conformity = conform({ operation, query, body: read }, contract.settings, contract.catalogue)
  const answer = conformity.ok ? decide(conformity, rehearsal.state, contract, START) : conformity
  const entries = Object.entries({ ...query, ...(body as Json) })
  const fields = entries.map(([name, value]) => (Array.isArray(value) ? `${name} ${value.length}` : name)).join(' ')
  return `${fields}: ${answer.ok ? 'accepted' : answer.problems.map(({ code }) => code).join(' ')}`
}

describe('the sample requests of an operation', () => {
  // That members leave their groups with a removed domain, and that a repeated member is one, is our choice.
  it.each<[operation: string, accepted: string, refused: string]>([
    ['listDmarc', ': accepted; : accepted', ''],
    ['listDomains', ': accepted', ''],
    ['addDomains', 'domains 1: accepted', 'domains 2: invalid_domain; domains 1: invalid_domain'],
    [
      ...(['deleteDomains', 'domains 1: accepted'] as const),
      `${'domains 1: domain_delete_failed; '.repeat(2)}domains 1: accepted; domains 2: invalid_domain`,
    ],
    ['listDomainGroups', ': accepted; id: accepted', 'id: not_found'],
    [
      ...(['createDomainGroup', 'name: accepted; name domains 1: accepted'] as const),
      'name domains 1: not_monitored; name: duplicate_name; name domains 2: accepted',
    ],
    [
      'updateDomainGroup',
      'id name: accepted; id domains 1: accepted; id add_domains 1: accepted; id remove_domains 1: accepted; id add_domains 1 remove_domains 1: accepted',
      'id name: not_found; id add_domains 1: not_monitored; id name: duplicate_name; id add_domains 2: accepted',
    ],
    ['deleteDomainGroup', 'id: accepted', 'id: not_found'],
  ])('%s are accepted, or refused for what the account holds', (id, accepted, refused) => {
    const operation = contract.operations.find((each) => each.id === id)
    if (operation === undefined) throw new Error(`There is no operation ${id}.`)
    const behaviour = contract.behaviourOf(operation)
    const answersTo = (samples: readonly RequestSample[]) =>
      samples.map((sample) => answerTo(operation, sample)).join('; ')
    expect([answersTo(behaviour.accepted), answersTo(behaviour.refused)]).toEqual([accepted, refused])
  })
})
