import type { Exchange } from '../../src/exchanges/exchange.ts'
import { draws } from '../independent-service/draw.ts'
import { play, randomSession } from '../independent-service/playing.ts'
import type { IndependentService } from '../independent-service/service.ts'

const LENGTH = 60
/** In milliseconds. What is further apart was not asked at the same time. */
const TOGETHER = 20_000

/**
 * A random session, parts of which a client asked at the same time: the recording has these in another order than the
 * service handled them, and some other client's requests are not in it at all.
 */
export function playAtOnce(seed: number, service: Pick<IndependentService, 'answer'>): Exchange[] {
  const { number, chance, shuffled } = draws(seed)
  const exchanges = play(randomSession(seed, LENGTH), service)
  const recorded: Exchange[] = []
  for (let at = 0; at < exchanges.length; ) {
    const size = chance(0.5) ? 1 : 2 + Math.floor(number() * 4)
    const begin = exchanges[at]?.at ?? 0
    const burst = exchanges.slice(at, at + size).filter((each) => each.at < begin + TOGETHER)
    at += burst.length
    const end = burst.at(-1)?.until ?? 0
    const isChange = ({ request: { method } }: Exchange) => !['GET', 'HEAD', 'OPTIONS'].includes(method)
    for (const [index, each] of shuffled(burst).entries()) {
      const overlaps = burst.some((other) => other !== each && isChange(other))
      recorded.push({ ...each, at: begin + index, until: end, overlaps })
    }
  }
  return recorded
}
