import { type Call, type Fields, Refusal } from '../parts.ts'
import { asking, broken, forgets, instead, successes, unexplained, violation } from './deviation.ts'

const firstGroup = ({ account }: Call): Fields => ({
  group: account.groups[0] ?? { id: 'NoGroups', name: 'x', domains: [] },
})

const deleted = (): Fields => ({ message: 'Domain group deleted.' })

/** What can be wrong with domain groups. */
export const GROUPS = {
  'A new group is not kept.': broken('groups-with-count', forgets('createGroup')),
  'A new group has no members.': broken('members-in-the-same-call', (right) => ({
    createGroup: (call) => right.createGroup(asking(call, { domains: [] })),
  })),
  'A new group is answered with its members, and has none.': broken('members-in-the-same-call', (right) => ({
    createGroup: (call) => {
      const data = structuredClone(right.createGroup(call))
      for (const group of call.account.groups.slice(-1)) group.domains = []
      return data
    },
  })),
  'Members need not be monitored.': broken('members-monitored', (right) => ({
    readMembers: (_, texts) => right.readHostnames(texts),
  })),
  'A group with a member that is not monitored is refused, but made.': broken('groups-with-count', (right) => ({
    createGroup: (call) => {
      try {
        return right.createGroup(call)
      } catch (error) {
        if ((error as Refusal).code === 'not_monitored') right.createGroup(asking(call, { domains: [] }))
        throw error
      }
    },
  })),
  'Names that differ in case are different.': broken('name-unique', { identityOf: (name) => name }),
  'A name can be given twice.': broken('name-unique', { checkUnique: () => {} }),
  'A group can be renamed to the name of another one.': broken('new-name-unique', (right) => ({
    checkUnique: (call, name, own) => own === undefined && right.checkUnique(call, name),
  })),
  'A name can have 101 characters.': violation('/DomainGroupName/maxLength', { mostCharacters: 101 }),
  'A name of 100 characters is refused.': broken('name-length', { mostCharacters: 99 }),
  'A name can be empty.': violation('/DomainGroupName/minLength', (right) => ({
    checkName: (name) => name !== '' && right.checkName(name),
  })),
  'Names are stored in lower case.': unexplained((right) => ({
    createGroup: (call) => right.createGroup(asking(call, { name: String(call.fields['name']).toLowerCase() })),
  })),
  'count of groups is one too many.': broken(
    'groups-with-count',
    successes('GET /domaingroups', (data: { count?: number }) =>
      data.count === undefined ? data : { ...data, count: data.count + 1 },
    ),
  ),
  'GET with an id answers the first group.': broken('one-group-by-id', (right) => ({
    listGroups: (call) => {
      const data = right.listGroups(call)
      return 'group' in data ? firstGroup(call) : data
    },
  })),
  'GET with an unknown id answers the first group.': broken('unknown-id-read', instead('listGroups', firstGroup)),
  'PATCH with an unknown id is a success.': broken('unknown-id-update', instead('updateGroup', firstGroup)),
  'DELETE with an unknown id is a success.': broken('unknown-id-delete', instead('deleteGroup', deleted)),
  'PATCH and DELETE without an id answer not_found.': broken('update-needs-id', {
    refuseMissingId: () => {
      throw new Refusal('not_found')
    },
  }),
  'DELETE without an id is a success.': broken('delete-needs-id', (right) => ({
    refuseMissingId: ({ method }) => {
      if (method === 'PATCH') throw new Refusal('missing_id')
    },
    deleteGroup: (call) => (call.id ? right.deleteGroup(call) : deleted()),
  })),
  'A deleted group stays.': broken('groups-with-count', forgets('deleteGroup')),
  'Deleting a group removes its members from the account.': broken('members-stay-monitored', (right) => ({
    deleteGroup: (call) => {
      const members = call.account.groups.find(({ id }) => id === call.id)?.domains ?? []
      const data = right.deleteGroup(call)
      for (const domain of members) call.account.domains.delete(domain)
      return data
    },
  })),
}
