import { loadContract } from '../../../src/contract/contract.ts'
import { PairSession, type PairTerms, type SerialRuns } from '../../../src/trials/beside/session.ts'
import { type Client, startIn } from './clients-in-process.ts'
import { fixture } from './racers.ts'

const contract = await loadContract({ longestWindow: 2 })

/** A search with clients of this process, which are named by the key of each. */
export function openFor<Name extends string>(
  clients: Readonly<Record<Name, Client>>,
  one: Name,
  other: Name,
  chosen: Partial<PairTerms> = {},
): PairSession {
  return new PairSession({
    ...{ command: [one], beside: other, environment: {}, variables: [], options: { fixture } },
    ...{ contract, jobs: 1, switches: 2, timeout: undefined, runs: undefined, milliseconds: undefined },
    ...{ stop: new AbortController().signal, onSignal: undefined, watch: () => {}, carryOut: startIn(clients) },
    ...chosen,
  })
}

/** The serial orders of commands that pass in both. */
export async function establish(session: PairSession): Promise<SerialRuns> {
  const serial = await session.establish()
  if (typeof serial === 'string') throw new Error(serial)
  return serial
}
