import { createHash } from 'node:crypto'
import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import { type Api, codesOf } from '../contract/api.ts'
import { FAULT_KINDS, type FaultKind } from '../faults/kinds.ts'
import { valueAt } from '../ground/json.ts'
import { readPackageFile } from '../ground/package-files.ts'
import { SEARCHED_WORDS } from '../journal/search.ts'
import type { Control } from './control.ts'
import { readLimits } from './document.ts'
import { PAGE_VIEWS, type PageView } from './paths.ts'

/** The build creates it from src/dashboard. */
const PAGE = 'dist/dashboard.html'
/** The element of the page that holds the facts. */
const FACTS = /(<script type="application\/json" id="facts">)[^<]*(<\/script>)/

/** The page and its header fields. */
export interface Dashboard {
  text: string
  headers: Readonly<Record<string, string>>
}

/** The values that the page offers as choices and that the control plane has no operation for. */
export interface PageFacts {
  basePath: string
  /** The views, in the order of their tabs. */
  views: readonly PageView[]
  plans: readonly string[]
  fixtures: readonly string[]
  operations: readonly {
    id: string
    method: string
    path: string
    codes: readonly string[]
    /** The maximum number of domains in a body; null if there is no limit. */
    mostDomains: number | null
  }[]
  /** The time of day in UTC of the daily refresh, as `HH:MM`. */
  refresh: string
  profiles: readonly string[]
  policies: readonly string[]
  faults: FaultFacts
  pageLimit: number
  /** The most characters and words of a search in the journal. */
  search: { characters: number; words: number }
  /** The operations of the control plane by operationId, each with its method and path. */
  calls: Readonly<Record<string, readonly [method: string, path: string]>>
  /** The operations of the control plane that the page offers; null for all. */
  offers: readonly string[] | null
}

/** The text of the page about fault rules, from the document of the control plane. */
interface FaultFacts {
  /** The kinds of faults. `respond` counts as two: an error of the service, and any other response. */
  kinds: readonly KindFacts[]
  /** Field of a rule → its meaning. */
  fields: Readonly<Record<string, string>>
  phases: Readonly<Record<'before' | 'after', string>>
}

export interface KindFacts extends Pick<FaultKind, 'field' | 'phase'> {
  name: string
  says: string
}

/** The fields of a rule that the page explains by themselves. */
const RULE_FIELDS = ['skip', 'times', 'probability', 'delay_ms', 'jitter_ms']
/** The document explains these two ways to respond. */
const WAYS_TO_RESPOND = ['error', 'status']

/**
 * The dashboard: one page that is a client of the control plane. It reads the service from its contract.
 *
 * The policy lets the browser run and load only the contents of the page itself. So the text of a request to the
 * service can do nothing in the page, even if the page treated it as markup. The file is read each time: that is cheap,
 * and a new build of the page is shown without a restart.
 */
export async function readDashboard({ api, deps }: Pick<Control, 'api' | 'deps'>): Promise<Dashboard> {
  const page = readPackageFile(PAGE).toString()
  // `<` could end the element early. In JSON it occurs only inside strings.
  const facts = JSON.stringify(describeFacts(deps, api)).replaceAll('<', '\\u003c')
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(page, /<script type="module">([\s\S]*?)<\/script>/g)}`,
    `style-src ${hashesOf(page, /<style>([\s\S]*?)<\/style>/g)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    text: page.replace(FACTS, (_, opening: string, closing: string) => opening + facts + closing),
    headers: { 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'no-referrer' },
  }
}

function describeFacts({ contract, observed }: Control['deps'], api: Api): PageFacts {
  const { basePath, operations, settings } = contract
  const choices = (pointer: string) => valueAt(api.document.resolved, `/components/schemas${pointer}/enum`) as string[]
  return {
    basePath,
    views: PAGE_VIEWS,
    plans: settings.plans.order,
    fixtures: FIXTURE_NAMES,
    operations: operations.map((operation) => {
      const { id, method, path, bodySchema } = operation
      const limit = bodySchema && valueAt(bodySchema, '/properties/domains/maxItems')
      return {
        id,
        method,
        path,
        codes: [...codesOf([operation])],
        mostDomains: typeof limit === 'number' ? limit : null,
      }
    }),
    refresh: settings.refresh,
    profiles: choices('/Pin/properties/profile'),
    policies: choices('/Pin/properties/p'),
    faults: describeFaults(api),
    pageLimit: readLimits(api).pageLimit,
    search: {
      characters: Number(valueAt(api.document.resolved, '/components/parameters/search/schema/maxLength')),
      words: SEARCHED_WORDS,
    },
    calls: Object.fromEntries(api.operations.map(({ id, method, path }) => [id, [method, path]])),
    offers: observed === undefined ? null : [...observed.offers],
  }
}

export function describeFaults({ document }: Api): FaultFacts {
  const textAt = (place: string) => {
    const text = valueAt(document.resolved, `/components/schemas/FaultRule/properties/${place}`)
    if (typeof text !== 'string') throw new Error(`The document of the control plane does not explain ${place}.`)
    return text
  }
  const kinds = Object.entries(FAULT_KINDS).flatMap(([name, { field, phase }]): KindFacts[] => {
    if (field === 'respond') {
      return WAYS_TO_RESPOND.map((way) => {
        return { name: way, field, phase, says: textAt(`respond/properties/${way}/description`) }
      })
    }
    return [
      {
        name,
        field,
        phase,
        says: textAt(field === 'delay_ms' ? 'delay_ms/description' : `${field}/$defs/${name}/description`),
      },
    ]
  })
  return {
    kinds,
    fields: Object.fromEntries(RULE_FIELDS.map((name) => [name, textAt(`${name}/description`)])),
    phases: { before: textAt('phase/$defs/before/description'), after: textAt('phase/$defs/after/description') },
  }
}

function hashesOf(page: string, element: RegExp): string {
  const hashes = [...page.matchAll(element)].map(([, text = '']) => createHash('sha256').update(text).digest('base64'))
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ')
}
