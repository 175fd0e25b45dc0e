import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assumptionsOf, overlayFor } from '../../src/contract/assumptions.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { openService, type TestService } from '../support/service.ts'

export const { document } = await loadContract()
export const assumptions = assumptionsOf(document.source, document.extensions)

/** Each alternative of each assumption, with its number counted from 1. */
export const alternatives = assumptions.flatMap((assumption) =>
  assumption.alternatives.map((alternative, index) => [assumption.id, index + 1, assumption, alternative] as const),
)

/** Starts a stand-in that makes an alternative choice; whoever starts it stops it. */
export async function openWithAlternative(
  id: string,
  number: number,
  options: ServerOptions = {},
): Promise<TestService> {
  const [, , assumption, alternative] = alternatives.find(([name, n]) => name === id && n === number) ?? []
  if (assumption === undefined || alternative === undefined) throw new Error(`${id} has no alternative ${number}.`)
  const { actions } = overlayFor(assumption, alternative, document.source)
  const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
  try {
    const path = join(folder, 'overlay.yaml')
    writeFileSync(path, JSON.stringify({ overlay: '1.0.0', info: { title: id, version: '1.0.0' }, actions }))
    return await openService({ ...options, overlays: [path] })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
