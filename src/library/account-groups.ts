import type { GroupReport } from '../contract/control-plane.ts'
import type { AccountScope } from './account-scope.ts'

/** A group to create. */
export interface NewGroup {
  name: string
  /** Its members, which must be monitored. None by default. */
  domains?: readonly string[]
}

/** The changes of a group: at least one field. `domains` cannot be combined with the other two lists. */
export interface GroupChange {
  name?: string
  /** The new list of all members. */
  domains?: readonly string[]
  add_domains?: readonly string[]
  remove_domains?: readonly string[]
}

export type AccountGroups = ReturnType<typeof openGroups>

/**
 * Sets up an account's groups for a test, by the rules of the service. These calls cost no quota, meet no fault and are
 * not in the journal. A `ControlError` with the code `refused` contains the code of the service's refusal.
 */
export function openGroups(scope: AccountScope) {
  return {
    /** In the order of their creation. */
    list: (): Promise<GroupReport[]> => scope.list('listGroups', 'groups'),
    /** Creates a group by the rules of POST /domaingroups. */
    create: (group: NewGroup): Promise<GroupReport> => scope.askFor('group', 'createGroup', { body: group }),
    /** Changes the group with this id by the rules of PATCH /domaingroups. */
    update: (group: string, change: GroupChange): Promise<GroupReport> =>
      scope.askFor('group', 'updateGroup', { parameters: { group }, body: change }),
    /** Deletes the group with this id. Its members stay monitored. */
    delete: async (group: string): Promise<void> => void (await scope.ask('deleteGroup', { parameters: { group } })),
  }
}
