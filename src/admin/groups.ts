import { presentGroup } from '../behaviour/presentation.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { AccountHandler } from './handler.ts'
import { answerPage, type PageOf } from './paging.ts'
import type { GroupReport } from './reports.ts'
import { changeAsService } from './service-change.ts'

/** The approximate bytes of a member as JSON, and of a group without members. */
const SIZES = { member: 40, group: 500 }

export const listGroups: AccountHandler<PageOf<'groups', GroupReport>> = (call) => {
  const { account, contract } = call
  const { groups } = account
  const list = { items: groups.values(), count: groups.size, idOf: ({ id }: DomainGroup) => id, sizeOf }
  return answerPage(call, 'groups', list, (group) => {
    const { id, name, domains } = presentGroup(group, account, contract.settings)
    return { id, name, domains: [...domains] }
  })
}

function sizeOf({ domains }: DomainGroup): number {
  return SIZES.group + SIZES.member * domains.length
}

export const createGroup = changeAsService<{ group: GroupReport }>('createDomainGroup', 'group')

export const updateGroup = changeAsService<{ group: GroupReport }>('updateDomainGroup', 'group')

export const deleteGroup = changeAsService('deleteDomainGroup')
