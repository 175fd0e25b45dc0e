import { Refusal, textsIn } from '../parts.ts'
import { asking, broken, errorWith, forgets, headersWith, unexplained } from './deviation.ts'

const KNOWN = ['name', 'domains', 'add_domains', 'remove_domains']

/** What can be wrong with changes of a group, and with any response. */
export const CHANGES = {
  'PATCH ignores name.': unexplained((right) => ({
    updateGroup: (call) => right.updateGroup(asking(call, { name: undefined })),
  })),
  'PATCH answers the change, and does not keep it.': unexplained(forgets('updateGroup')),
  'PATCH changes the next group as well.': unexplained((right) => ({
    updateGroup: (call) => {
      const data = right.updateGroup(call)
      const { groups } = call.account
      const index = groups.findIndex(({ id }) => id === call.id)
      const next = groups[(index + 1) % groups.length]
      if (next !== undefined && next.id !== call.id) next.domains = []
      return data
    },
  })),
  'domains of PATCH adds members.': broken('domains-replace-members', (right) => ({
    changeMembers: (call, group) => {
      const members = right.changeMembers(call, group)
      return call.fields['domains'] === undefined ? members : [...new Set([...group.domains, ...members])]
    },
  })),
  'add_domains of PATCH replaces all members.': broken('additions-keep-members', (right) => ({
    changeMembers: (call, group) =>
      right.changeMembers(call, call.fields['add_domains'] === undefined ? group : { ...group, domains: [] }),
  })),
  'PATCH ignores add_domains.': unexplained((right) => ({
    changeMembers: (call, group) => right.changeMembers(asking(call, { add_domains: undefined }), group),
  })),
  'PATCH removes first, and adds then.': broken('additions-before-removals', (right) => ({
    changeMembers: (call, group) => {
      const domains = right.changeMembers(asking(call, { add_domains: undefined }), group)
      return right.changeMembers(asking(call, { domains: undefined, remove_domains: undefined }), { ...group, domains })
    },
  })),
  'PATCH refuses to remove a domain that is no member.': broken('unknown-removals-ignored', (right) => ({
    changeMembers: (call, group) => {
      const isUnknown = textsIn(call.fields, 'remove_domains').some((domain) => !group.domains.includes(domain))
      if (isUnknown) throw new Refusal('not_monitored')
      return right.changeMembers(call, group)
    },
  })),
  'PATCH accepts domains beside add_domains.': broken('no-mixed-changes', (right) => ({
    checkFields: (call) => {
      const { domains: _, ...others } = call.fields
      const isMixed = call.method === 'PATCH' && Object.keys(others).length > 0
      right.checkFields(isMixed ? { ...call, fields: others } : call)
    },
  })),
  'PATCH accepts an empty object.': broken('update-needs-a-field', (right) => ({
    checkFields: (call) => {
      if (call.method !== 'PATCH' || Object.keys(call.fields).length > 0) right.checkFields(call)
    },
  })),
  'Fields that are not described are ignored.': unexplained((right) => ({
    checkFields: (call) => {
      const known = Object.entries(call.fields).filter(([name]) => KNOWN.includes(name))
      right.checkFields({ ...call, fields: Object.fromEntries(known) })
    },
  })),
  'A field of the wrong type has another code.': unexplained(errorWith({ code: 'invalid_json' }, 'invalid_field_type')),
  'Broken JSON has the code unknown_field.': unexplained(errorWith({ code: 'unknown_field' }, 'invalid_json')),
  'Every response has the same X-Request-Id.': unexplained(
    headersWith({ 'X-Request-Id': '5ecb3e29-3c77-4a1f-8a3e-0f6a1c0a9d11' }),
  ),
}
