import { type Call, type Fields, type Parts, Refusal, textsIn } from '../parts.ts'
import {
  broken,
  changeCode,
  type Deviation,
  forgets,
  leftOpen,
  operation,
  permitted,
  sends,
  statusFor,
  unexplained,
  violation,
} from './deviation.ts'

function checked(change: (right: Parts['checkFields'], call: Call) => void) {
  return (parts: Parts) => {
    const right = parts.checkFields.bind(parts)
    parts.checkFields = (call) => change(right, call)
  }
}

type ChangeMembers = Parts['changeMembers']

function changeMembers(change: (right: ChangeMembers, ...given: Parameters<ChangeMembers>) => string[]) {
  return (parts: Parts) => {
    const right = parts.changeMembers.bind(parts)
    parts.changeMembers = (...given) => change(right, ...given)
  }
}

/** What can be wrong with changes of a group, and with how requests are refused. */
export const CHANGES: readonly Deviation[] = [
  {
    id: 'name-not-changed',
    says: 'PATCH ignores name.',
    ...unexplained('write'),
    change: (parts) => {
      const right = parts.updateGroup.bind(parts)
      parts.updateGroup = (call) => {
        const { name: _, ...fields } = call.fields
        return right({ ...call, fields })
      }
    },
  },
  {
    id: 'change-not-kept',
    says: 'PATCH answers the change, and does not keep it.',
    ...unexplained('write and read'),
    change: operation('updateGroup', forgets),
  },
  {
    id: 'other-group-changed',
    says: 'PATCH changes the next group as well.',
    ...unexplained('write and read'),
    change: operation('updateGroup', (right, call) => {
      const data = right(call)
      const { groups } = call.account
      const index = groups.findIndex(({ id }) => id === call.id)
      const next = groups[(index + 1) % groups.length]
      if (next !== undefined && next.id !== call.id) next.domains = []
      return data
    }),
  },
  {
    id: 'members-not-replaced',
    says: 'domains of PATCH adds members.',
    ...broken('domains-replace-members', 'write'),
    change: changeMembers((right, call, group) =>
      call.fields['domains'] === undefined
        ? right(call, group)
        : [...new Set([...group.domains, ...right(call, group)])],
    ),
  },
  {
    id: 'members-replaced',
    says: 'add_domains of PATCH replaces all members.',
    ...broken('additions-keep-members', 'write'),
    change: changeMembers((right, call, group) =>
      call.fields['add_domains'] === undefined ? right(call, group) : right(call, { ...group, domains: [] }),
    ),
  },
  {
    id: 'additions-ignored',
    says: 'PATCH ignores add_domains.',
    ...unexplained('write'),
    change: changeMembers((right, call, group) =>
      right({ ...call, fields: { ...call.fields, add_domains: undefined } }, group),
    ),
  },
  {
    id: 'removals-ignored',
    says: 'PATCH ignores remove_domains.',
    ...unexplained('write'),
    change: changeMembers((right, call, group) =>
      right({ ...call, fields: { ...call.fields, remove_domains: undefined } }, group),
    ),
  },
  {
    id: 'removals-first',
    says: 'PATCH removes first, and adds then.',
    ...broken('additions-before-removals', 'write'),
    change: changeMembers((right, call, group) => {
      const { add_domains, ...removals } = call.fields
      const left = right({ ...call, fields: removals }, group)
      return right({ ...call, fields: { add_domains } }, { ...group, domains: left })
    }),
  },
  {
    id: 'unknown-removal-refused',
    says: 'PATCH refuses to remove a domain that is no member.',
    ...broken('unknown-removals-ignored', 'write'),
    change: changeMembers((right, call, group) => {
      if (textsIn(call.fields, 'remove_domains').some((domain) => !group.domains.includes(domain)))
        throw new Refusal('not_monitored')
      return right(call, group)
    }),
  },
  {
    id: 'conflict-accepted',
    says: 'PATCH accepts domains beside add_domains.',
    ...broken('no-mixed-changes', 'write'),
    change: checked((right, call) => {
      const { domains: _, ...others } = call.fields
      right({ ...call, fields: call.method === 'PATCH' && Object.keys(others).length > 0 ? others : call.fields })
    }),
  },
  {
    id: 'nothing-to-change',
    says: 'PATCH accepts an empty object.',
    ...broken('update-needs-a-field', 'write'),
    change: checked((right, call) => {
      if (call.method !== 'PATCH' || Object.keys(call.fields).length > 0) right(call)
    }),
  },
  {
    id: 'unknown-field-ignored',
    says: 'Fields that are not described are ignored.',
    ...unexplained('write'),
    change: checked((right, call) => {
      const known = ['name', 'domains', 'add_domains', 'remove_domains']
      right({
        ...call,
        fields: Object.fromEntries(Object.entries(call.fields).filter(([name]) => known.includes(name))),
      })
    }),
  },
  {
    id: 'wrong-type-ignored',
    says: 'A field of the wrong type has another code.',
    ...unexplained('write'),
    change: changeCode('invalid_field_type', 'invalid_json'),
  },
  {
    id: 'broken-json-is-a-body',
    says: 'Broken JSON has the code unknown_field.',
    ...unexplained('write'),
    change: changeCode('invalid_json', 'unknown_field'),
  },
  {
    id: 'wrong-status-of-refusal',
    says: 'invalid_name has status 409.',
    ...leftOpen('/x-errors', 'write'),
    change: statusFor('invalid_name', 409),
  },
  {
    id: 'unprocessable-domain',
    says: 'invalid_domain has status 422.',
    ...permitted('status-invalid-domain', 1, 'write'),
    change: statusFor('invalid_domain', 422),
  },
  {
    id: 'created',
    says: 'A new group has status 201.',
    ...permitted('create-group-status', 1, 'write'),
    change: sends(({ body }, { method, path }) =>
      method === 'POST' && path === '/domaingroups' && (body as Fields)['success'] === true
        ? { status: 201 }
        : undefined,
    ),
  },
  {
    id: 'teapot',
    says: 'A success has status 418.',
    ...violation('/responses', 'read'),
    change: sends(({ status }) => (status === 200 ? { status: 418 } : undefined)),
  },
]
