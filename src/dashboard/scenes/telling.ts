import { signal } from '@preact/signals'
import type { Story } from '../responses.ts'
import type { Outcome } from './calls-of-scenes.ts'

/** A story that is told. */
export interface Telling {
  account: string
  story: Story
  /** The index of the scene. */
  step: number
  /** The name of the snapshot with the account as it was before the story. */
  snapshot: string
  /** What the calls of the scene were answered so far. */
  outcomes: readonly Outcome[]
  /** Why the story cannot go on. The account stays as it is then. */
  end: string | undefined
}

/** The story that this page tells now. */
export const telling = signal<Telling | undefined>(undefined)
