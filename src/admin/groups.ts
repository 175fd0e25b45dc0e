import { presentGroup } from '../behaviour/presentation.ts'
import type { AccountHandler } from './handler.ts'
import { answerPage } from './paging.ts'
import { changeAsService } from './service-change.ts'

export const listGroups: AccountHandler<'listGroups'> = (call) => {
  const { account, contract } = call
  return answerPage(call, 'groups', {
    items: account.groups.values(),
    idOf: ({ id }) => id,
    report(group) {
      const { id, name, domains } = presentGroup(group, account, contract.settings)
      return { id, name, domains: [...domains] }
    },
  })
}

export const createGroup = changeAsService<'createGroup'>('createDomainGroup', 'group')

export const updateGroup = changeAsService<'updateGroup'>('updateDomainGroup', 'group')

export const deleteGroup = changeAsService<'deleteGroup'>('deleteDomainGroup')
