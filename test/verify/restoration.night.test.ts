import { it } from 'vitest'
import { expectUndone } from './sweeping.ts'

it('a run of verify that is killed at any of its requests is undone by a sweep', { timeout: 600_000 }, () =>
  expectUndone(1_000),
)
