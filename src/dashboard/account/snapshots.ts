import { call } from '../client.ts'
import { isOffered } from '../facts.ts'
import { readAll } from '../paging.ts'
import { createResource } from '../resource.ts'
import type { Snapshot } from '../responses.ts'
import { openTab } from '../selection.ts'
import { summary } from './summary.ts'

/** How the names of the snapshots begin that stories take. */
export const SCENE_SNAPSHOT = 'scene-'

/**
 * The snapshots of the chosen account. Every tab tells of a story that was not ended, so all of them have the list; but only
 * the tab that shows it asks for it again while it can be seen elsewhere that nothing was taken or deleted.
 */
export const snapshots = createResource({
  load: async (account): Promise<readonly Snapshot[]> =>
    isOffered('listSnapshots')
      ? readAll(
          (query) => call('listSnapshots', { parameters: { account }, query }),
          (page) => page.snapshots,
        )
      : [],
  polled: true,
  isStale(): boolean {
    const known = snapshots.data.peek()
    const count = summary.data.peek()?.account.snapshots ?? 0
    return openTab.peek() === 'time' || known?.length !== count || known.some(isOfStory)
  },
})

/** Whether a story has taken a snapshot: one of this page, of another page, or of a page that is closed. */
export function isOfStory({ name }: Snapshot): boolean {
  return name.startsWith(SCENE_SNAPSHOT)
}
