import { type Call, type Fields, Refusal, textsIn } from '../parts.ts'
import {
  broken,
  type Deviation,
  forgets,
  instead,
  operation,
  statusFor,
  successes,
  unexplained,
  violation,
} from './deviation.ts'

const firstGroup = ({ account }: Call): Fields => ({
  group: account.groups[0] ?? { id: 'NoGroups', name: 'x', domains: [] },
})
const everyGroup = (change: (group: Fields) => unknown) =>
  successes(
    ({ groups, group, ...data }: { groups?: Fields[]; group?: Fields }) => ({
      ...data,
      ...(groups !== undefined && { groups: groups.map(change) }),
      ...(group !== undefined && { group: change(group) }),
    }),
    '/domaingroups',
  )

/** What can be wrong with domain groups. */
export const GROUPS: readonly Deviation[] = [
  {
    id: 'lost-group',
    says: 'A new group is not kept.',
    ...broken('groups-with-count', 'write and read'),
    change: operation('createGroup', forgets),
  },
  {
    id: 'no-first-members',
    says: 'A new group has no members.',
    ...broken('members-in-the-same-call', 'write'),
    change: operation('createGroup', (right, call) => right({ ...call, fields: { name: call.fields['name'] } })),
  },
  {
    id: 'first-members-not-kept',
    says: 'A new group is answered with its members, and has none.',
    ...broken('members-in-the-same-call', 'write and read'),
    change: operation('createGroup', (right, call) => {
      const data = structuredClone(right(call))
      const group = call.account.groups.at(-1)
      if (group !== undefined) group.domains = []
      return data
    }),
  },
  {
    id: 'partial-group',
    says: 'Members that are not monitored are left out of a new group.',
    ...broken('members-monitored', 'write'),
    change: operation('createGroup', (right, call) =>
      right({
        ...call,
        fields: {
          ...call.fields,
          domains: textsIn(call.fields, 'domains').filter((domain) => call.account.domains.has(domain)),
        },
      }),
    ),
  },
  {
    id: 'any-members',
    says: 'Members need not be monitored.',
    ...broken('members-monitored', 'write'),
    change: (parts) => {
      parts.readMembers = (_, texts) => parts.readHostnames(texts)
    },
  },
  {
    id: 'refused-but-created',
    says: 'A group with a member that is not monitored is refused, but made.',
    ...broken('groups-with-count', 'write and read'),
    change: operation('createGroup', (right, call) => {
      try {
        return right(call)
      } catch (error) {
        if ((error as Refusal).code === 'not_monitored') right({ ...call, fields: { name: call.fields['name'] } })
        throw error
      }
    }),
  },
  {
    id: 'case-in-names',
    says: 'Names that differ in case are different.',
    ...broken('name-unique', 'write'),
    change: (parts) => {
      parts.identityOf = (name) => name
    },
  },
  {
    id: 'any-name-twice',
    says: 'A name can be given twice.',
    ...broken('name-unique', 'write'),
    change: (parts) => {
      parts.checkUnique = () => {}
    },
  },
  {
    id: 'new-name-taken',
    says: 'A group can be renamed to the name of another one.',
    ...broken('new-name-unique', 'write'),
    change: (parts) => {
      const right = parts.checkUnique.bind(parts)
      parts.checkUnique = (call, name, own) => {
        if (own === undefined) right(call, name)
      }
    },
  },
  {
    id: 'longer-names',
    says: 'A name can have 101 characters.',
    ...violation('/DomainGroupName/maxLength', 'write'),
    change: (parts) => {
      parts.mostCharacters = 101
    },
  },
  {
    id: 'shorter-names',
    says: 'A name of 100 characters is refused.',
    ...broken('name-length', 'write'),
    change: (parts) => {
      parts.mostCharacters = 99
    },
  },
  {
    id: 'empty-name',
    says: 'A name can be empty.',
    ...violation('/DomainGroupName/minLength', 'write'),
    change: (parts) => {
      const right = parts.checkName.bind(parts)
      parts.checkName = (name) => {
        if (name !== '') right(name)
      }
    },
  },
  {
    id: 'lower-case-names',
    says: 'Names are stored in lower case.',
    ...unexplained('write'),
    change: operation('createGroup', (right, call) =>
      right({ ...call, fields: { ...call.fields, name: String(call.fields['name']).toLowerCase() } }),
    ),
  },
  {
    id: 'wrong-count-of-groups',
    says: 'count of groups is one too many.',
    ...broken('groups-with-count', 'read'),
    change: successes(
      (data: { count?: number }) => (data.count === undefined ? data : { ...data, count: data.count + 1 }),
      'GET /domaingroups',
    ),
  },
  {
    id: 'no-count-of-groups',
    says: 'The list of groups has no count.',
    ...violation('/schemas/', 'read'),
    change: successes(({ count: _, ...data }: Fields) => data, 'GET /domaingroups'),
  },
  {
    id: 'group-missing-in-list',
    says: 'The list of groups leaves out the last one.',
    ...broken('groups-with-count', 'write and read'),
    change: operation('listGroups', (right, call) => {
      const { groups, ...data } = right(call)
      return Array.isArray(groups) ? { groups: groups.slice(0, -1), count: Math.max(0, groups.length - 1) } : data
    }),
  },
  {
    id: 'numeric-ids',
    says: 'The id of a group is a number.',
    ...violation('/schemas/', 'read'),
    change: everyGroup((group) => ({ ...group, id: 12_345_678 })),
  },
  {
    id: 'more-in-group',
    says: 'A group has a field that is not described.',
    ...violation('/schemas/DomainGroup', 'read'),
    change: everyGroup((group) => ({ ...group, created_at: '2026-01-15' })),
  },
  {
    id: 'null-for-no-members',
    says: 'domains of a group without members is null.',
    ...violation('/Domains', 'read'),
    change: everyGroup((group) => ((group['domains'] as string[]).length === 0 ? { ...group, domains: null } : group)),
  },
  {
    id: 'group-unwrapped',
    says: 'data of one group is the group itself.',
    ...violation('', 'read'),
    change: successes((data: { group?: Fields }) => data.group ?? data, 'GET /domaingroups'),
  },
  {
    id: 'other-group',
    says: 'GET with an id answers the first group.',
    ...broken('one-group-by-id', 'read'),
    change: operation('listGroups', (right, call) => {
      const data = right(call)
      return 'group' in data ? firstGroup(call) : data
    }),
  },
  {
    id: 'id-ignored',
    says: 'GET with an id answers all groups.',
    ...broken('one-group-by-id', 'read'),
    change: operation('listGroups', (right, call) => right({ ...call, id: undefined })),
  },
  {
    id: 'null-for-unknown-id',
    says: 'GET with an unknown id answers null.',
    ...violation('', 'read'),
    change: operation(
      'listGroups',
      instead('not_found', () => ({ group: null })),
    ),
  },
  {
    id: 'unknown-id-found',
    says: 'GET with an unknown id answers the first group.',
    ...broken('unknown-id-read', 'read'),
    change: operation('listGroups', instead('not_found', firstGroup)),
  },
  {
    id: 'unknown-id-fails',
    says: 'An unknown id is answered with 500.',
    ...violation('/x-errors', 'read'),
    change: statusFor('not_found', 500),
  },
  {
    id: 'unknown-id-updated',
    says: 'PATCH with an unknown id is a success.',
    ...broken('unknown-id-update', 'write'),
    change: operation('updateGroup', instead('not_found', firstGroup)),
  },
  {
    id: 'unknown-id-deleted',
    says: 'DELETE with an unknown id is a success.',
    ...broken('unknown-id-delete', 'write'),
    change: operation(
      'deleteGroup',
      instead('not_found', () => ({ message: 'Domain group deleted.' })),
    ),
  },
  {
    id: 'missing-id-not-found',
    says: 'PATCH and DELETE without an id answer not_found.',
    ...broken('update-needs-id', 'write'),
    change: (parts) => {
      parts.refuseMissingId = () => {
        throw new Refusal('not_found')
      }
    },
  },
  {
    id: 'missing-id-accepted',
    says: 'DELETE without an id is a success.',
    ...broken('delete-needs-id', 'write'),
    change: (parts) => {
      parts.refuseMissingId = ({ method }) => {
        if (method === 'PATCH') throw new Refusal('missing_id')
      }
      operation(
        'deleteGroup',
        instead('not_found', () => ({ message: 'Domain group deleted.' })),
      )(parts)
    },
  },
  {
    id: 'group-not-deleted',
    says: 'A deleted group stays.',
    ...broken('groups-with-count', 'write and read'),
    change: operation('deleteGroup', forgets),
  },
  {
    id: 'domains-deleted-with-group',
    says: 'Deleting a group removes its members from the account.',
    ...broken('members-stay-monitored', 'write and read'),
    change: operation('deleteGroup', (right, call) => {
      const members = call.account.groups.find(({ id }) => id === call.id)?.domains ?? []
      const data = right(call)
      for (const domain of members) call.account.domains.delete(domain)
      return data
    }),
  },
]
