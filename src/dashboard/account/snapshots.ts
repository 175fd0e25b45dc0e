import { call } from '../client.ts'
import { isOffered } from '../facts.ts'
import { readAll } from '../paging.ts'
import { createResource } from '../resource.ts'
import type { Snapshot } from '../responses.ts'
import { openTab } from '../selection.ts'
import { summary } from './summary.ts'

/** The prefix of the names of snapshots for stories. */
export const SCENE_SNAPSHOT = 'scene-'

/**
 * The snapshots of the chosen account. Every tab shows unfinished stories, so every tab needs the list. It is loaded
 * again if the tab Time is open or the number of snapshots has changed. It is also loaded again while it contains the
 * snapshot of a story.
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

/** Whether a story has taken the snapshot, on this page, on another page or on a closed page. */
export function isOfStory({ name }: Snapshot): boolean {
  return name.startsWith(SCENE_SNAPSHOT)
}
