import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { Exchange, SeenBody } from '../../../src/exchanges/exchange.ts'
import { HarError } from '../../../src/exchanges/har/file.ts'
import { HarRecording, type RecordedStep } from '../../../src/exchanges/har/reader.ts'
import { type EntryOptions, entryOf, harOf } from '../../support/recorded.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const contract = await loadContract()
export const BODY = '{"success":true,"data":{"domains":["ü.example"]}}'

export interface Read extends Pick<HarRecording, 'baseUrl' | 'size' | 'tally' | 'hosts' | 'secrets'> {
  read: readonly Exchange[]
  gaps: readonly boolean[]
}

export async function readFiles(paths: readonly string[], baseUrl?: string): Promise<Read> {
  const recording = await HarRecording.open(paths, { contract, baseUrl })
  const steps: RecordedStep[] = [...recording.exchanges()]
  const { size, tally, hosts, secrets } = recording
  return {
    ...{ baseUrl: recording.baseUrl, size, tally, hosts, secrets },
    read: steps.map(({ exchange }) => exchange),
    gaps: steps.map(({ isAfterGap }) => isAfterGap),
  }
}

export function readText(text: string | Buffer, baseUrl?: string): Promise<Read> {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'a.har'), text)
  return readFiles([join(folder, 'a.har')], baseUrl)
}

export function readEntries(...entries: EntryOptions[]): Promise<Read> {
  return readText(harOf(entries.map(entryOf)))
}

export async function readEntry(options: EntryOptions): Promise<Exchange | undefined> {
  return (await readEntries(options)).read[0]
}

/** A message with these header fields. */
export const fieldsOf = (fields: Record<string, unknown>) => ({
  headers: Object.entries(fields).map(([name, value]) => ({ name, value })),
})

/** An entry whose request has this key, or none. */
export const withKey = (after: number, value?: string): EntryOptions => ({
  after,
  request: fieldsOf({ host: 'x', ...(value !== undefined && { authorization: value }) }),
})

/** Expects these bytes, or a body that is unknown for this reason. */
export function expectBody(seen: SeenBody | undefined, body: string | RegExp): void {
  if (typeof body === 'string') expect(seen?.isKnown && seen.bytes.toString()).toBe(body)
  else expect(seen).toEqual({ isKnown: false, reason: expect.stringMatching(body) })
}

/** What is wrong with a file. */
export function refusal(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    () => 'nothing',
    (error) => {
      expect(error).toBeInstanceOf(HarError)
      expect(error.message).not.toContain('\n')
      return error.message
    },
  )
}
