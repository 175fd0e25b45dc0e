import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { ROOT } from '../support/program-process.ts'

interface Conditions {
  [condition: string]: string | Conditions
}
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Conditions
  files: string[]
}

/** All that a name of the package stands for, with the conditions of each. */
function targetsOf(target: string | Conditions, ...conditions: string[]): [conditions: string, path: string][] {
  if (typeof target === 'string') return [[conditions.join(', '), target]]
  return Object.entries(target).flatMap(([condition, below]) => targetsOf(below, ...conditions, condition))
}

const targets = Object.entries(manifest.exports).flatMap(([name, target]) =>
  targetsOf(target).map(([conditions, path]) => [name, conditions, path] as const),
)
const doors = Object.entries(manifest.exports).filter(([, target]) => JSON.stringify(target).includes('./dist/'))
/** Whether the package contains a file or a folder, itself or with the folder that it is in. */
const isPacked = (path: string) => manifest.files.some((each) => `${path}/`.startsWith(`${each}/`))
/** Where the program is imported from by its tests, as an installed package would be by its name. */
const built = (path: string) => pathToFileURL(join(ROOT, 'dist', path)).href

describe.concurrent('the package', () => {
  it.for(targets)('has what it exports as %s for %s, at %s', ([, , path]) => {
    expect(existsSync(join(ROOT, path))).toBe(true)
    expect(path === './package.json' || isPacked(path.replace('./', ''))).toBe(true)
  })

  it.for(doors)('can be required as %s, with types', ([, target]) => {
    expect(targetsOf(target).map(([conditions]) => conditions)).toEqual(
      expect.arrayContaining(['require, types', 'require, default', 'types', 'default']),
    )
  })

  it('packs every file that the program reads', () => {
    for (const path of ['openapi.yaml', 'src/admin/openapi.yaml', 'dist/dashboard.html', 'fixtures', 'faults']) {
      expect(isPacked(path)).toBe(true)
      expect(existsSync(join(ROOT, path))).toBe(true)
    }
  })

  it('is imported and serves', async ({ folder }) => {
    const program = `
      import { startUnderstudy } from '${built('index.js')}'
      const understudy = await startUnderstudy({ fixture: 'empty' })
      const response = await fetch(understudy.baseUrl + '/domains', { headers: understudy.account.headers })
      console.log(response.status, (await understudy.account.requests.list()).length)
      await understudy.stop()
    `
    writeFileSync(join(folder, 'program.mjs'), program)
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs')])
    expect(stdout).toBe('200 1\n')
  })
})
