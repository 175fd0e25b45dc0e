import { writeOverlay } from '../support/overlay-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The path of an overlay with one action. */
export function overlayWith(target: string, update: object): string {
  return writeOverlay(temporaryFolder(), [{ target, update }])
}

export const withBodyLimit = (value: number) => overlayWith("$['x-settings']['body-limit']", { value })
