import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import { type Api, codesOf, operationOf } from '../contract/api.ts'
import { readLimits } from '../contract/control-api.ts'
import type { Schemas } from '../contract/control-plane.ts'
import { FAULT_KINDS } from '../faults/kinds.ts'
import { valueAt } from '../ground/json.ts'
import { SEARCHED_WORDS } from '../journal/search.ts'
import { type ControlContext, done, type Handlers } from './handler.ts'

type About = Schemas['About']
type Kind = About['faults']['kinds'][number]

export const aboutHandlers = { getAbout: (call) => done(describeAbout(call)) } satisfies Handlers

export function describeAbout({
  contract,
  observed,
  api,
}: Pick<ControlContext, 'contract' | 'observed' | 'api'>): About {
  const { basePath, operations, settings } = contract
  const offered = api.operations.filter(({ id }) => observed?.offers.has(id) ?? true)
  const { pageLimit } = readLimits(api)
  const search = operationOf(api, 'listRequests')?.parameters.get('search')
  return {
    base_path: basePath,
    operations: operations.map((operation) => {
      const { id, method, path, bodySchema } = operation
      const most = bodySchema && valueAt(bodySchema, '/properties/domains/maxItems')
      const codes = [...codesOf([operation])]
      return { id, method, path, codes, most_domains: typeof most === 'number' ? most : null }
    }),
    control: offered.map(({ id, method, path }) => ({ id, method, path })),
    plans: [...settings.plans.order],
    fixtures: [...FIXTURE_NAMES],
    profiles: at<About['profiles']>(api, 'Profile/enum') ?? [],
    policies: at<About['policies']>(api, 'PolicyName/enum') ?? [],
    refresh: settings.refresh,
    page_limit: pageLimit,
    search: { characters: Number(search?.['maxLength']), words: SEARCHED_WORDS },
    faults: describeFaults(api),
  }
}

/** The kinds of faults and the fields of a rule, in the words of the document. */
export function describeFaults(api: Api): About['faults'] {
  const say = (place: string) => at<string>(api, `FaultRule/properties/${place}/description`) ?? ''
  // To respond is two of them: with an error of the service, or with anything.
  const named = Object.entries(FAULT_KINDS).flatMap(([name, { field, phase }]) =>
    (name === 'respond' ? ['error', 'status'] : [name]).map((name) => ({ name, field, phase })),
  )
  const placeOf = ({ name, field }: Pick<Kind, 'name' | 'field'>) =>
    field === 'delay_ms' ? field : `${field}/${field === 'respond' ? 'properties' : '$defs'}/${name}`
  const fields = ['skip', 'times', 'probability', 'delay_ms', 'jitter_ms']
  return {
    kinds: named.map((kind) => ({ ...kind, says: say(placeOf(kind)) })),
    fields: Object.fromEntries(fields.map((name) => [name, say(name)])),
    phases: { before: say('phase/$defs/before'), after: say('phase/$defs/after') },
  }
}

/** What the document has at a place among its schemas. */
function at<Value>({ document }: Api, place: string): Value | undefined {
  return valueAt(document.resolved, `/components/schemas/${place}`) as Value | undefined
}
