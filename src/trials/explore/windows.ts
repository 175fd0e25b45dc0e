import { type Contract, loadContract } from '../../contract/contract.ts'
import { readOverlay } from '../../contract/overlay.ts'

/** How long a quota window is when it is shortened, in seconds. */
export const SHORT_WINDOW = 2

/**
 * The contract with these overlays, where no quota window is longer than this many seconds. The limits stay as they are.
 * @throws ContractError
 */
export async function shortenWindows(paths: readonly string[], seconds = SHORT_WINDOW): Promise<Contract> {
  return loadContract({ overlays: await Promise.all(paths.map(readOverlay)), longestWindow: seconds })
}

/** The longest quota window of a contract, in seconds. */
export function longestWindow({ operations }: Pick<Contract, 'operations'>): number {
  return Math.max(0, ...operations.map(({ quota }) => quota?.window ?? 0))
}
