import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { expect, it } from 'vitest'

interface Job {
  needs?: string | string[]
  permissions?: Record<string, string>
  steps: { uses?: string }[]
}
const text = readFileSync(new URL('../../.github/workflows/release.yml', import.meta.url), 'utf8')
const { permissions, jobs } = load(text) as { permissions: Record<string, string>; jobs: Record<string, Job> }

it('A job of the release may write what it publishes, after what was checked, and runs no code where it may', () => {
  const rights = Object.entries(jobs).map(([name, { needs = [], permissions: own = {}, steps }]) => [
    name,
    {
      needs: [needs].flat(),
      writes: Object.keys(own).filter((each) => own[each] === 'write'),
      runsCode: steps.some(({ uses = '' }) => uses.startsWith('actions/checkout')),
    },
  ])
  expect(Object.values(permissions).filter((each) => each !== 'read')).toEqual([])
  expect(Object.fromEntries(rights)).toEqual({
    check: { needs: [], writes: [], runsCode: true },
    package: { needs: ['check'], writes: ['id-token', 'attestations'], runsCode: true },
    npm: { needs: ['package'], writes: ['id-token'], runsCode: false },
    image: { needs: ['package'], writes: ['packages'], runsCode: false },
    release: { needs: ['npm', 'image'], writes: ['contents'], runsCode: false },
  })
})
