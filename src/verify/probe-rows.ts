import type { DomainGroup } from '../domain/account.ts'
import type { Needs, Probe, ProbeRequest, ProbeScene as Scene } from './probe.ts'

type More = Partial<ProbeRequest>
type Outcome = Pick<Probe, 'expect' | 'rule' | 'decides'>
type BodyFor = (scene: Scene) => unknown

export const GROUPS = '/domaingroups'
export const DOMAINS = '/domains'
/** How many domains a request may add by the specification. Under an overlay with another limit, the same is sent. */
export const MOST_DOMAINS = 50
const NO_GROUP: DomainGroup = { id: '', name: '', domains: [] }

const words = (text: string) => text.split(' ').filter((word) => word !== '')
/** What the specification says, its rules, and the assumptions that it leaves open, with spaces between the ids. */
export const accepted = (rules = '', decides = ''): Outcome => {
  return { expect: 'accepted', rule: words(rules), decides: words(decides) }
}
export const refused = (rules = '', decides = ''): Outcome => {
  return { expect: 'refused', rule: words(rules), decides: words(decides) }
}
/** The specification leaves the answer open. */
export const open = (decides = ''): Outcome => ({ decides: words(decides) })

export const get = (path: string, more?: More): ProbeRequest => ({ method: 'GET', path, ...more })
export const post = (body: unknown, more?: More): ProbeRequest => ({ method: 'POST', path: DOMAINS, body, ...more })
export const remove = (body: unknown, more?: More): ProbeRequest => ({ method: 'DELETE', path: DOMAINS, body, ...more })
export const create = (body: unknown, more?: More): ProbeRequest => ({ method: 'POST', path: GROUPS, body, ...more })
export const at = (id: string) => `${GROUPS}?id=${encodeURIComponent(id)}`
export const change = (id: string, body: unknown, more?: More): ProbeRequest => {
  return { method: 'PATCH', path: at(id), body, ...more }
}
export const removeGroup = (id: string, more?: More): ProbeRequest => ({ method: 'DELETE', path: at(id), ...more })

export const first = ({ groups: [group = NO_GROUP] }: Scene) => group
export const second = ({ groups: [, group = NO_GROUP] }: Scene) => group
export const fresh = ({ freshDomain }: Scene, count: number) => Array.from({ length: count }, freshDomain)
export const named = ({ freshName }: Scene) => ({ name: freshName() })

export const ask = (id: string, needs: Needs, outcome: Outcome, send: Probe['send']): Probe => ({
  id,
  needs,
  send,
  ...outcome,
})
/** It needs nothing, and only reads. */
export const reading = (id: string, outcome: Outcome, ...requests: ProbeRequest[]): Probe => ({
  id,
  send: () => requests,
  ...outcome,
})
/** Adds domains. Each invalid name has its own request, because one refusal hides another. */
export const adding = (id: string, outcome: Outcome, namesFor: BodyFor): Probe =>
  ask(id, {}, outcome, (scene) => [post({ domains: namesFor(scene) })])
/** Creates a group. Its name or all its members are the run's, so it can be found if it should not exist. */
export const creating = (id: string, needs: Needs, outcome: Outcome, bodyFor: BodyFor): Probe =>
  ask(id, needs, outcome, (scene) => [create(bodyFor(scene))])
/** A PATCH of a group of the run. However a service reads the body, it changes nothing else. */
export const changing = (id: string, outcome: Outcome, bodyFor: BodyFor, more?: More): Probe =>
  ask(id, { groups: [0] }, outcome, (scene) => [change(first(scene).id, bodyFor(scene), more)])
/** The same with other members, and then the group, or all groups. */
export const moving = (id: string, needs: Needs, outcome: Outcome, bodyFor: BodyFor, listed?: 'all'): Probe =>
  ask(id, needs, outcome, (scene) => {
    const { id: group } = first(scene)
    return [change(group, bodyFor(scene)), get(listed === 'all' ? GROUPS : at(group))]
  })
/** Two names that may be equal: the second group gets one of them, then the first group gets the other. */
export const comparing = (id: string, one: string, other: string, outcome: Outcome): Probe =>
  ask(id, { groups: [0, 0] }, outcome, (scene) => [
    change(second(scene).id, { name: `${one} ${scene.mark}` }),
    change(first(scene).id, { name: `${other} ${scene.mark}` }),
  ])
/** The same request with no valid key. */
export const keyless = (
  id: string,
  needs: Needs,
  decides: string,
  send: (scene: Scene, more: More) => ProbeRequest,
): Probe[] =>
  (['none', 'wrong'] as const).map((key) => {
    const how = key === 'none' ? 'without-key' : 'with-wrong-key'
    return ask(`${id}-${how}`, needs, refused('key-required', decides), (scene) => [send(scene, { key })])
  })
