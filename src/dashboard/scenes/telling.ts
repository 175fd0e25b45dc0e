import { signal } from '@preact/signals'
import type { Story } from '../responses.ts'
import type { Outcome } from './calls-of-scenes.ts'

/** A story in progress. */
export interface Telling {
  account: string
  story: Story
  /** The index of the current scene. */
  step: number
  /** The snapshot of the account before the story. */
  snapshot: string
  /** The results of the calls of the scene so far. */
  outcomes: readonly Outcome[]
  /** The reason why the story cannot continue. The account stays as it is then. */
  end: string | undefined
}

/** The story in progress on this page. */
export const telling = signal<Telling | undefined>(undefined)
