import type { Contract } from '../../contract/contract.ts'
import { memoize } from '../../ground/memo.ts'
import { plural, shorten } from '../../ground/show.ts'
import { HarError } from './file.ts'

/** How many hosts a message names. */
const NAMED = 5

/** The normalized origin of a URL, and the rest of the URL as it was sent, without the fragment. */
export interface SplitUrl {
  origin: string
  target: string
}

/** `undefined` if the text is not an HTTP URL. Recordings have the same URLs again and again. */
export const splitUrl = memoize(
  (url): SplitUrl | undefined => {
    const [, written = '', rest = ''] = /^(https?:\/\/[^/?#]*)([^#]*)/i.exec(url) ?? []
    if (!URL.canParse(written)) return undefined
    return { origin: new URL(written).origin, target: rest.startsWith('/') ? rest : `/${rest}` }
  },
  { limit: 10_000, longest: 1_000 },
)

/** What follows the base URL of a service in a URL; `undefined` if the URL is not below it. */
export function restBelow(base: SplitUrl | undefined, { origin, target }: SplitUrl): string | undefined {
  if (base?.origin !== origin) return undefined
  const above = base.target.replace(/\/$/, '')
  const rest = target.slice(above.length)
  return target.startsWith(above) && /^(?:[/?]|$)/.test(rest) ? rest : undefined
}

/** How many requests went to each URL. */
export type UrlCounts = ReadonlyMap<string, number>

/** The one base URL below which paths of the contract are asked for. @throws HarError if there are several */
export function guessService(
  urls: UrlCounts,
  { basePath, routes }: Pick<Contract, 'basePath' | 'routes'>,
): string | undefined {
  const services = countBy(urls, ({ origin, target }) => {
    const path = /^[^?]*/.exec(target)?.[0] ?? ''
    const place = `${path}/`.indexOf(`${basePath}/`)
    const end = place + basePath.length
    return place >= 0 && routes.has(path.slice(end)) ? origin + path.slice(0, end) : undefined
  })
  const [only] = services.keys()
  if (services.size <= 1) return only
  throw new HarError(`requests of the service went to ${list(services)}; say with --base-url which one is meant`)
}

/** The hosts that requests went to, as a sentence. */
export function describeHosts(urls: UrlCounts): string {
  const hosts = countBy(urls, ({ origin }) => origin)
  return hosts.size === 0 ? 'There is no request at all.' : `The requests went to ${list(hosts)}.`
}

function countBy(urls: UrlCounts, nameOf: (url: SplitUrl) => string | undefined): UrlCounts {
  const counts = new Map<string, number>()
  for (const [url, times] of urls) {
    const place = splitUrl(url)
    const name = place && nameOf(place)
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + times)
  }
  return counts
}

/** `https://a.example (12 requests) and http://localhost:80 (1 request)` */
function list(counts: UrlCounts): string {
  const named = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, NAMED)
    .map(([name, times]) => `${shorten(name)} (${plural(times, 'request')})`)
  const parts = counts.size > NAMED ? [...named, `${counts.size - NAMED} more`] : named
  return parts.length === 1 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
