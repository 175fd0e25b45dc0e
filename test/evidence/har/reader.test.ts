import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import { openRecording } from '../../../src/evidence/har/reader.ts'
import { it } from '../../support/program.ts'
import { entryOf, harOf } from '../../support/recorded.ts'

const contract = await loadContract()

async function read(folder: string, text: string | Buffer, baseUrl?: string) {
  const path = join(folder, 'a.har')
  writeFileSync(path, text)
  const recording = await openRecording([path], { contract, baseUrl })
  const exchanges: Exchange[] = []
  for await (const { exchange } of recording.exchanges()) exchanges.push(exchange)
  await recording.close()
  return { ...recording, exchanges }
}

describe('A recording', () => {
  it('is read', async ({ folder }) => {
    const r = await read(
      folder,
      harOf([
        entryOf(),
        entryOf({ after: 100, method: 'POST', request: { postData: { mimeType: 'a', text: '{}' } } }),
        entryOf({ url: 'https://x.example/' }),
      ]),
    )
    console.dir(r, { depth: 9 })
    expect(r.size).toBe(2)
  })
})
