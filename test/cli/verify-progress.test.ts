import { describe, expect, it } from 'vitest'
import { describeProgress } from '../../src/cli/verify-progress.ts'

const quotaOf = (path: string, left: number, resetsIn: number | undefined) => {
  return { path, left, resetsIn, limit: 100, sent: 0, remaining: left }
}
const progress = {
  asked: 26,
  planned: 128,
  doing: 'name-taken',
  quotas: [quotaOf('/dmarc', 7, undefined), quotaOf('/domains', 0, 1_140), quotaOf('/domaingroups', 96, 1_200)],
  toGo: 4_800,
}

describe('the progress of verify', () => {
  it('says what is done, what is left of each quota, and when the next one is reset', () => {
    const line = '26 of 128; left: /dmarc 7, /domains 0, /domaingroups 96; reset in 19 min; name-taken'
    expect(describeProgress(progress, false)).toBe(line)
  })

  it('says how long it takes where it waits', () => {
    expect(describeProgress(progress, true)).toMatch(/^26 of 128, 80 min to go; left: /)
    expect(describeProgress({ ...progress, toGo: 0 }, true)).toMatch(/^26 of 128; left: /)
  })

  it('begins with what keeps it from asking', () => {
    const line = describeProgress({ ...progress, doing: 'waits for the quota of /domains' }, true)
    expect(line).toMatch(/^26 of 128, 80 min to go; waits for the quota of \/domains; left: /)
  })

  it('says nothing of a reset that no response has named', () => {
    const quotas = [quotaOf('/dmarc', 10, undefined)]
    expect(describeProgress({ ...progress, quotas }, false)).toBe('26 of 128; left: /dmarc 10; name-taken')
  })
})
