// Writes to the accounts of a folder until it is killed, and says of each change that it was acknowledged.
import { writeSync } from 'node:fs'
import { countRequest } from '../../../src/domain/counting.ts'
import { addDomains, deleteDomains } from '../../../src/domain/domains.ts'
import { findMatchingRules, triggerRule } from '../../../src/domain/faults.ts'
import { groupIdsOf } from '../../../src/domain/group-ids.ts'
import { createGroup, updateGroup } from '../../../src/domain/groups.ts'
import { chargeQuota } from '../../../src/domain/quotas.ts'
import { wordsOf } from '../../../src/ground/chance.ts'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { decodeAccount } from '../../../src/store/record.ts'

const [, , folder, durability, plan] = process.argv
const { accounts, clients } = JSON.parse(plan)
const settings = {
  nameComparison: 'unicode',
  repeatedDomains: 'invalid_domain',
  alreadyMonitored: 'invalid_domain',
  repeatedMembers: 'invalid_domain',
  sharedDomains: 'allowed',
  domainCap: 'none',
  groupCap: 'none',
  memberCap: 'none',
}
const groupIds = groupIdsOf({ alphabet: '0123456789', length: 12 }, wordsOf)
const charge = { limit: 1e9, window: 3600, start: 'aligned', enforced: true }
const target = { operation: 'addDomains', method: 'POST', path: '/domains', key: 'key', answersWith: () => true }

const store = await openFolderStore(folder, settings, { durability })
await Promise.all(Array.from({ length: accounts }, (_, account) => store.create(emptyAccount(`account-${account}`))))
writeSync(1, 'ready\n')
for (let account = 0; account < accounts; account++) {
  for (let client = 0; client < clients; client++) void work(account, client)
}

async function work(account, client) {
  const id = `account-${account}`
  for (let step = 0; ; step++) {
    const name = `${client}-${Math.floor(step / 6)}`
    const spare = `spare-${account}-${name}`
    switch (step % 6) {
      case 0:
        await change(id, (state) => addDomains(state, [`${name}.x`, `${name}.y`], 0, settings))
        break
      case 1:
        await change(id, (state) =>
          createGroup(state, { id: `id-${name}`, name, domains: [`${name}.x`, `${name}.y`] }, groupIds, settings),
        )
        break
      case 2:
        await change(id, (state) => deleteDomains(state, [`${name}.y`], settings))
        break
      case 3:
        await change(id, (state) => updateGroup(state, `id-${name}`, { name: `${name} done` }, settings))
        break
      case 4:
        await store.create(emptyAccount(spare))
        break
      case 5:
        await store.delete(spare)
    }
    writeSync(1, `${account} ${client}\n`)
  }
}

async function change(id, decide) {
  await store.count(id, ({ faults }, counting) => {
    const { hits } = chargeQuota(counting.quotas.get('bucket'), charge, 0)
    const { counted } = triggerRule(findMatchingRules(faults, target), counting.tallies, 0, () => 0)
    countRequest(counting, { ordinal: counting.requests + 1, bucket: 'bucket', hits, tallies: counted }, faults)
  })
  const decision = await store.update(id, decide)
  if (!decision.ok) throw new Error(JSON.stringify(decision))
}

function emptyAccount(id) {
  return decodeAccount(
    {
      id,
      plan: 'stone',
      seed: 42,
      origin: { fixture: 'empty', key: { id: 'key', hash: 'hash' } },
      createdAt: 0,
      clock: { offset: 0 },
      keys: [],
      domains: [],
      groups: [],
      groupsCreated: 0,
      keysCreated: 0,
      faults: [{ id: 'fault_1', createdAt: 0, rule: { delay_ms: 1 } }],
      faultsCreated: 1,
    },
    settings,
  )
}
