import { presentGroup } from '../behaviour/presentation.ts'
import type { DomainGroup } from '../domain/account.ts'
import { type AccountHandler, done } from './handler.ts'
import { answerPage } from './paging.ts'
import type { GroupReport } from './reports.ts'
import { changeAsService } from './service-change.ts'

/** The approximate bytes of a member as JSON, and of a group without members. */
const SIZES = { member: 40, group: 500 }

export const listGroups: AccountHandler = (call) => {
  const { account, contract } = call
  const { groups } = account
  const list = { items: groups.values(), count: groups.size, idOf: ({ id }: DomainGroup) => id, sizeOf }
  return answerPage(call, 'groups', list, (group): GroupReport => {
    const { id, name, domains } = presentGroup(group, account, contract.settings)
    return { id, name, domains: [...domains] }
  })
}

function sizeOf({ domains }: DomainGroup): number {
  return SIZES.group + SIZES.member * domains.length
}

export const createGroup: AccountHandler = async (call) => {
  const change = await changeAsService(call, 'createDomainGroup')
  return change.ok ? done({ group: change.value['group'] }) : change
}

export const updateGroup: AccountHandler = async (call) => {
  const change = await changeAsService(call, 'updateDomainGroup', { id: call.parameters['group'] ?? '' })
  return change.ok ? done({ group: change.value['group'] }) : change
}

export const deleteGroup: AccountHandler = async (call) => {
  const change = await changeAsService(call, 'deleteDomainGroup', { id: call.parameters['group'] ?? '' })
  return change.ok ? done() : change
}
