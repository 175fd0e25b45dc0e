import { memoize } from '../../ground/memo.ts'
import { plural } from '../../ground/plural.ts'
import { shorten } from '../../ground/show.ts'

/** How many hosts and possible services of recordings are counted separately. */
const MOST_NAMES = 1000
/** How many hosts a message names. */
const NAMED = 5

/** Why recordings cannot be used. The message is one line. */
export class HarError extends Error {
  override name = 'HarError'
}

/** The normalized origin of a URL, and the rest of the URL as it was sent, without the fragment. */
export interface SplitUrl {
  origin: string
  target: string
}

/** The normalized origin of the beginning of a URL. Recordings have few of them. */
const originOf = memoize((written) => (URL.canParse(written) ? new URL(written).origin : undefined), {
  limit: MOST_NAMES,
})

/** `undefined` if the text is not an HTTP URL. */
export function splitUrl(url: string): SplitUrl | undefined {
  const [, written = '', rest = ''] = /^(https?:\/\/[^/?#]*)([^#]*)/i.exec(url) ?? []
  const origin = written === '' ? undefined : originOf(written)
  return origin === undefined ? undefined : { origin, target: rest.startsWith('/') ? rest : `/${rest}` }
}

/**
 * Finds the service that the requests of recordings went to: the base URL that the user named, or the one base URL with
 * requests to paths of the contract.
 */
export class ServiceSearch {
  readonly #base: string
  readonly #paths: ReadonlySet<string>
  readonly #given: string | undefined
  readonly #place: SplitUrl | undefined
  /** How many requests to paths of the contract each base URL has, and how many requests each host. */
  readonly #services = new Map<string, number>()
  readonly #hosts = new Map<string, number>()

  /** `base` is the base path of the contract, `paths` are the paths below it. */
  constructor(base: string, paths: Iterable<string>, given: string | undefined) {
    this.#base = base
    this.#paths = new Set(paths)
    this.#given = given?.replace(/\/+$/, '')
    this.#place = splitUrl(this.#given ?? '')
  }

  /** Counts a request. Returns the base URL of the service that it may have gone to, and the rest of its own URL. */
  note({ origin, target }: SplitUrl): { service: string; rest: string } | undefined {
    count(this.#hosts, origin)
    if (this.#given !== undefined) {
      const above = this.#place?.target.replace(/\/$/, '') ?? ''
      const rest = target.slice(above.length)
      const isBelow = this.#place?.origin === origin && target.startsWith(above) && /^(?:[/?]|$)/.test(rest)
      return isBelow ? { service: this.#given, rest } : undefined
    }
    const path = /^[^?]*/.exec(target)?.[0] ?? ''
    const place = `${path}/`.indexOf(`${this.#base}/`)
    if (place < 0) return undefined
    const end = place + this.#base.length
    const service = origin + path.slice(0, end)
    if (this.#paths.has(path.slice(end))) count(this.#services, service)
    return { service, rest: target.slice(end) }
  }

  /** The base URL; `undefined` if no request went to a service. @throws HarError if several are possible */
  conclude(): string | undefined {
    if (this.#given !== undefined) return this.#given
    if (this.#services.size <= 1) return [...this.#services.keys()][0]
    throw new HarError(
      `requests of the service went to ${list(this.#services)}; say with --base-url which one is meant`,
    )
  }

  /** The hosts that requests went to, as a sentence. */
  describeHosts(): string {
    return this.#hosts.size === 0 ? 'There is no request at all.' : `The requests went to ${list(this.#hosts)}.`
  }
}

function count(counts: Map<string, number>, name: string): void {
  const former = counts.get(name)
  if (former !== undefined || counts.size < MOST_NAMES) counts.set(name, (former ?? 0) + 1)
}

/** `https://a.example (12 requests) and http://localhost:80 (1 request)` */
function list(counts: ReadonlyMap<string, number>): string {
  const named = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, NAMED)
    .map(([name, times]) => `${shorten(name)} (${plural(times, 'request')})`)
  const parts = counts.size > NAMED ? [...named, `${counts.size - NAMED} more`] : named
  return parts.length === 1 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
