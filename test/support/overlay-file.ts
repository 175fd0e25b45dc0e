import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes an overlay of these actions to a file in a folder, and returns its path. */
export function writeOverlay(folder: string, actions: readonly object[], name = 'overlay.yaml'): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify({ overlay: '1.0.0', info: { title: name, version: '1.0.0' }, actions }))
  return path
}
