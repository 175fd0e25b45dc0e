import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { writeCurl } from '../../src/coverage/curl.ts'

const PLANES = { baseUrl: 'http://127.0.0.1:4010/api/v1', adminUrl: 'http://127.0.0.1:4010/__admin' }

describe('a padded body', () => {
  it.each([100, 1_048_577])('is written by a POSIX shell as so many bytes of the same JSON: %d', (padTo) => {
    const body = { name: "Tom's 100 % \\n -" }
    const command = writeCurl(
      { plane: 'service', method: 'POST', path: '/domaingroups', body, padTo },
      PLANES,
      undefined,
    )
    expect(command).toMatch(/^printf .* \| curl .* --data-binary @-$/)
    const bytes = execFileSync('sh', ['-c', command.replace(/ \| curl .*$/, '')], { maxBuffer: 2 * padTo })
    expect(bytes).toHaveLength(padTo)
    expect(JSON.parse(bytes.toString())).toEqual(body)
  })
})
