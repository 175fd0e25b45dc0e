/** A point that the specification leaves open and that has no alternatives any more. */
export interface SettledChoice {
  /** What the stand-in always does. */
  says: string
  /** The former setting, if its name was not that of the assumption. */
  setting?: string
  /** The former schema that said otherwise. */
  schema?: string
}

/**
 * By the id of the former assumption. An overlay that names one is refused with its sentence, and docs/choices.md
 * lists these sentences as unusual input.
 */
export const SETTLED: Readonly<Record<string, SettledChoice>> = {
  'gate-order': { says: 'The key is checked before the plan, and the plan before the quota.' },
  precedence: { says: 'Of several problems, the one whose code comes first in the catalogue is answered.' },
  'not-http': { says: 'Input that is not HTTP is answered with an error, and the connection is closed.' },
  head: { says: 'HEAD is answered as GET without the body.' },
  'request-charset': {
    says: 'A body is UTF-8. A Content-Type with another charset is refused with invalid_request_body.',
  },
  'byte-order-mark': { says: 'A body with a byte order mark is refused with invalid_json.' },
  'duplicate-fields': { says: 'Of fields with the same name in one object, the last one counts.' },
  'ignored-body': {
    says: 'A body that no operation reads, such as that of GET, is ignored.',
    setting: 'unread-bodies',
  },
  'empty-parameters': { says: 'A query parameter without a value, as in `?id=`, is an empty text.' },
  'repeated-id': {
    says: 'Of query parameters with the same name, the first one counts.',
    setting: 'repeated-parameters',
  },
  'empty-id-on-read': { says: 'GET /domaingroups answers an empty id with not_found.' },
  'empty-id-on-write': { says: 'PATCH and DELETE /domaingroups answer an empty id with missing_id.' },
  'group-id-scope': { says: 'No two groups of all accounts have the same id.' },
  'final-dot': { says: 'One final dot of a hostname is dropped.' },
  underscores: { says: 'A hostname with an underscore is refused.' },
  'single-labels': { says: 'A hostname of one label, such as `localhost`, is refused.' },
  'ipv4-addresses': { says: 'An IPv4 address is refused as a hostname.' },
  'numeric-last-labels': { says: 'A hostname whose last label is a number is refused.' },
  wildcards: { says: 'A wildcard such as `*.example.com` is refused as a hostname.' },
  'public-suffixes': { says: 'A public suffix such as `co.uk` is accepted as a hostname.' },
  'space-around-hostnames': { says: 'A hostname with white space around it is refused.' },
  'invisible-in-hostnames': {
    says: 'A hostname with invisible characters is refused. Joiners are allowed where RFC 5892 allows them.',
  },
  'member-order': { says: 'A group lists its members in the order in which they were added.' },
  'echo-order': { says: 'POST and DELETE /domains repeat the domains in the order of the request.' },
  'no-domains': { says: 'POST /domains answers an empty list with missing_field.' },
  'no-deletions': { says: 'DELETE /domains answers an empty list with missing_field.' },
  'deletions-per-request': { says: 'DELETE /domains takes any number of domains.' },
  'deletion-entries': {
    says: 'DELETE /domains answers an entry that is no hostname with invalid_domain.',
    schema: 'DomainToDelete',
  },
  'repeated-deletions': { says: 'DELETE /domains answers a domain that is named twice with invalid_domain.' },
  'mixed-additions': { says: 'POST /domains adds all domains or none.' },
  'mixed-deletions': { says: 'DELETE /domains removes all domains or none.' },
  'member-entries': { says: 'A member that is no hostname is refused with invalid_domain.', schema: 'Member' },
  'repeated-members': { says: 'A member that is named twice is stored once.' },
  'mixed-members': { says: 'PATCH /domaingroups takes all new members or none.' },
  'removal-entries': { says: 'An entry of `remove_domains` may be any text.' },
  'domain-cap': { says: 'A plan has no limit for domains.' },
  'group-cap': { says: 'A plan has no limit for groups.' },
  'member-cap': { says: 'A plan has no limit for the members of a group.' },
  'own-name': { says: 'A group can be renamed to its own name, in any case.' },
  'name-length-unit': { says: 'The 100 characters of a group name are Unicode code points.' },
  'blank-names': { says: 'A group name of white space or invisible characters alone is refused with invalid_name.' },
  'space-around-names': { says: 'White space around a group name is kept.' },
  'control-characters': {
    says: 'U+0000 in a group name is refused with invalid_name; other control characters are kept.',
  },
  'lone-surrogates': { says: 'Half of a surrogate pair in a group name is refused with invalid_name.' },
  'invisible-in-names': { says: 'Invisible characters in a group name are kept.' },
  'response-charset': {
    says: 'The Content-Type of a response is `application/json`, without a charset.',
    setting: 'response-type',
  },
  'client-request-ids': { says: 'The X-Request-Id of a request is ignored.' },
  cors: { says: 'Pages of other origins cannot use the service, unless the option `--cors` names them.' },
  'processing-time': { says: 'The background processing of an added domain takes 60 seconds.' },
  'policy-before-refresh': { says: 'Until its first refresh, the record of a domain has the policy `none`.' },
  'count-period': { says: 'The figures of a record cover the mail of 30 days.' },
  'status-content-encoding': { says: 'A body with a Content-Encoding is refused with invalid_request_body and 400.' },
  'status-content-type': { says: 'A body with another Content-Type is refused with invalid_request_body and 400.' },
  'status-timeout': { says: 'A request that does not arrive in time is answered with invalid_request_body and 408.' },
  'status-large-header': { says: 'A header that is too large is answered with request_too_large and 431.' },
  'internal-error': { says: 'A failure of the stand-in itself is answered with internal_error and 500.' },
}

/** What became of assumptions that one with another id replaces. */
const REPLACED: Readonly<Record<string, string>> = {
  'grace-dmarc': 'grace',
  'grace-domains': 'grace',
  'grace-domaingroups': 'grace',
  'add-domains-message': 'message-texts',
  'delete-domains-message': 'message-texts',
  'delete-group-message': 'message-texts',
}

/** Why there is no assumption with this id, and what holds instead; `undefined` if there never was one. */
export function whatBecameOf(id: string): string | undefined {
  const settled = Object.hasOwn(SETTLED, id) ? SETTLED[id] : undefined
  if (settled !== undefined) return `${id} is no longer a choice. ${settled.says}`
  return Object.hasOwn(REPLACED, id) ? `${id} is now part of the assumption ${REPLACED[id]}.` : undefined
}

/** The same for a setting. */
export function whatBecameOfSetting(name: string): string | undefined {
  const [, settled] = Object.entries(SETTLED).find(([id, { setting = id }]) => setting === name) ?? []
  return settled && `The setting ${name} is no longer a choice. ${settled.says}`
}

/** The same for a JSONPath that selects nothing: it may name a former setting or a former place. */
export function whatBecameOfPlace(target: string): string | undefined {
  const steps = target.split(/[^A-Za-z0-9-]+/)
  const [, setting] = steps.slice(steps.indexOf('x-settings'))
  if (steps.includes('x-settings') && setting !== undefined) return whatBecameOfSetting(setting)
  const [id] = Object.entries(SETTLED).find(([, { schema }]) => schema !== undefined && steps.includes(schema)) ?? []
  return id && whatBecameOf(id)
}

/** The factor for new keys was a field of each `x-quota`. */
export const GRACE_MOVED = "The factor for new keys is now one for all paths, at $['x-settings']['grace']."
