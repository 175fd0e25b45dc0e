import { expect } from 'vitest'
import { it } from '../support/program.ts'
import { runShell } from '../support/program-process.ts'

it('serve prints a curl line that works with a key that a shell would read otherwise', async ({ serve }) => {
  const { curl } = await serve(['--api-key', `it's"a"$HOME\`id\`\\&;`])
  const { stdout: answer } = await runShell(curl.replace('curl ', 'curl --silent --show-error '))
  expect(JSON.parse(answer)).toMatchObject({ success: true })
})

it('serve prints a curl line that opens a sandbox', async ({ serve }) => {
  const { stdout, apiKey } = await serve(['--fixture', 'empty'])
  const [line = ''] = /curl .*sandbox_mine.*/.exec(stdout()) ?? []
  const add = `curl -s -H 'Content-Type: application/json' -d '{"domains": ["mine.example"]}' `
  expect(JSON.parse((await runShell(line.replace('curl ', add))).stdout)).toMatchObject({ success: true })
  for (const [key, domains] of [
    ['sandbox_mine', ['mine.example']],
    [apiKey, []],
  ] as const) {
    const { stdout: answer } = await runShell(line.replace('curl ', 'curl -s ').replace('sandbox_mine', key))
    expect(JSON.parse(answer)).toEqual({ success: true, data: { domains } })
  }
})
