import { signal } from '@preact/signals'
import { call } from '../client.ts'
import type { JournalEntry } from '../responses.ts'

/** The newest first. */
export const listed = signal<readonly JournalEntry[]>([])

export const requestList = {
  async load(): Promise<number> {
    const { requests } = await call('listRequests', { query: { limit: 300 } })
    listed.value = [...requests].reverse()
    return listed.value[0]?.ordinal ?? 0
  },
  take(entry: JournalEntry): void {
    listed.value = [entry, ...listed.value].slice(0, 300)
  },
  isForEveryone: () => false,
}
