import { type Contract, loadContract } from '../../contract/contract.ts'
import { readOverlay } from '../../contract/overlay.ts'

/** The length of a shortened quota window, in seconds. */
export const SHORT_WINDOW = 2

/**
 * The contract with these overlays and with quota windows of at most this many seconds. The limits do not change.
 * @throws ContractError
 */
export async function shortenWindows(paths: readonly string[], seconds = SHORT_WINDOW): Promise<Contract> {
  return loadContract({ overlays: await Promise.all(paths.map(readOverlay)), longestWindow: seconds })
}

/** The longest quota window of a contract, in seconds. */
export function longestWindow({ operations }: Pick<Contract, 'operations'>): number {
  return Math.max(0, ...operations.map(({ quota }) => quota?.window ?? 0))
}
