import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeProject } from '../support/client-project.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell } from '../support/program-process.ts'

const DOCUMENTS = ['openapi.yaml', 'openapi.tolerant.yaml', 'dist/admin/openapi.json']
const PATIENCE = { timeout: 600_000 }

it.for(DOCUMENTS)('Redocly with its strict rules finds no problem in %s', PATIENCE, async (path, { folder }) => {
  // The control plane has one default response for all refusals, and words about values in $defs that nothing refers to.
  const skipped = path.includes('admin') ? '--skip-rule operation-4xx-response --skip-rule no-unused-components' : ''
  const lint = `npx -y @redocly/cli@2 lint ${join(ROOT, path)} --extends recommended-strict ${skipped} --format json`
  const { code, stdout } = await runShell(lint, { folder, environment: { REDOCLY_TELEMETRY: 'off' } })
  expect(JSON.parse(stdout.slice(stdout.indexOf('{'))).problems).toEqual([])
  expect(code).toBe(0)
})

it(
  'openapi-typescript makes types of both documents with which a client can be written',
  PATIENCE,
  async ({ folder }) => {
    makeProject(folder)
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
    copyFileSync(join(ROOT, 'test/contract/typed-client.ts'), join(folder, 'client.ts'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', allowImportingTsExtensions: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    // It needs an earlier compiler than this one, so it is fetched as somebody does who has no project for it.
    for (const [name, path] of Object.entries({ strict: DOCUMENTS[0], tolerant: DOCUMENTS[1] })) {
      const line = `npx -y openapi-typescript@7.13.0 ${join(ROOT, path ?? '')} --output ${name}.ts`
      expect((await runShell(line, { folder })).code).toBe(0)
    }
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    expect((await runShell(`node ${tsc} --project .`, { folder })).stdout).toBe('')
  },
)
