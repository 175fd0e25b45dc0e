import { presentGroup } from '../behaviour/presentation.ts'
import type { Handlers } from './handler.ts'
import { answerPage } from './paging.ts'
import { changeAsService } from './service-change.ts'

export const groupHandlers = {
  listGroups(call) {
    const { account, contract } = call
    return answerPage(call, 'groups', {
      items: account.groups.values(),
      idOf: ({ id }) => id,
      report(group) {
        const { id, name, domains } = presentGroup(group, account, contract.settings)
        return { id, name, domains: [...domains] }
      },
    })
  },

  createGroup: changeAsService<'createGroup'>('createDomainGroup', 'group'),
  updateGroup: changeAsService<'updateGroup'>('updateDomainGroup', 'group'),
  deleteGroup: changeAsService<'deleteGroup'>('deleteDomainGroup'),
} satisfies Handlers
