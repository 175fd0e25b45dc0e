import type { Contract } from '../../contract/contract.ts'
import { memoize } from '../../ground/memo.ts'
import { plural } from '../../ground/plural.ts'
import { shorten } from '../../ground/show.ts'
import { HarError } from './file.ts'

/** How many hosts a message names. */
const NAMED = 5

/** The normalized origin of a URL, and the rest of the URL as it was sent, without the fragment. */
export interface SplitUrl {
  origin: string
  target: string
}

/** The normalized origin of the beginning of a URL. Recordings have few of them. */
const originOf = memoize((written) => (URL.canParse(written) ? new URL(written).origin : undefined), { limit: 1_000 })

/** `undefined` if the text is not an HTTP URL. */
export function splitUrl(url: string): SplitUrl | undefined {
  const [, written = '', rest = ''] = /^(https?:\/\/[^/?#]*)([^#]*)/i.exec(url) ?? []
  const origin = written === '' ? undefined : originOf(written)
  return origin === undefined ? undefined : { origin, target: rest.startsWith('/') ? rest : `/${rest}` }
}

/** What follows the base URL of a service in a URL; `undefined` if the URL is not below it. */
export function restBelow(base: SplitUrl | undefined, { origin, target }: SplitUrl): string | undefined {
  if (base?.origin !== origin) return undefined
  const above = base.target.replace(/\/$/, '')
  const rest = target.slice(above.length)
  return target.startsWith(above) && /^(?:[/?]|$)/.test(rest) ? rest : undefined
}

/** The one base URL below which paths of the contract are asked for. @throws HarError if there are several */
export function guessService(
  urls: readonly SplitUrl[],
  { basePath, routes }: Pick<Contract, 'basePath' | 'routes'>,
): string | undefined {
  const services = urls.flatMap(({ origin, target }) => {
    const path = /^[^?]*/.exec(target)?.[0] ?? ''
    const place = `${path}/`.indexOf(`${basePath}/`)
    const end = place + basePath.length
    return place >= 0 && routes.has(path.slice(end)) ? [origin + path.slice(0, end)] : []
  })
  if (new Set(services).size <= 1) return services[0]
  throw new HarError(`requests of the service went to ${list(services)}; say with --base-url which one is meant`)
}

/** The hosts that requests went to, as a sentence. */
export function describeHosts(urls: readonly SplitUrl[]): string {
  if (urls.length === 0) return 'There is no request at all.'
  return `The requests went to ${list(urls.map(({ origin }) => origin))}.`
}

/** `https://a.example (12 requests) and http://localhost:80 (1 request)` */
function list(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const named = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, NAMED)
    .map(([name, times]) => `${shorten(name)} (${plural(times, 'request')})`)
  const parts = counts.size > NAMED ? [...named, `${counts.size - NAMED} more`] : named
  return parts.length === 1 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
