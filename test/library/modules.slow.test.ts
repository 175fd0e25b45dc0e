import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { installPacked } from '../support/packed-package.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell } from '../support/program-process.ts'

/** Uses the library as a program in either kind of modules does, and the types of both. */
const PROGRAM = `import { ControlError, type ControlErrorCode, startUnderstudy, type Understudy } from 'dmarc-understudy'
import { shareUnderstudy } from 'dmarc-understudy/node-test'

async function serve(): Promise<void> {
  const service: Understudy = await startUnderstudy({ fixture: 'agency' })
  const account = await service.createAccount({ fixture: 'demo' })
  const answer = await fetch(account.baseUrl + '/domains', { headers: account.headers })
  const refusal: unknown = await account.domains.add('a b').catch((error: unknown) => error)
  const code: ControlErrorCode | undefined = refusal instanceof ControlError ? refusal.code : undefined
  console.log(answer.status, code, typeof shareUnderstudy)
  await service.stop()
}
void serve()
`
const COMPILER = `node ${join(ROOT, 'node_modules/typescript/bin/tsc')}`
/** The last compiler that knows how modules were found before packages had exports. */
const FORMER_COMPILER = 'npx -y -p typescript@5.9.3 tsc'

const COMPILERS = [
  ['nodenext', COMPILER, '--module nodenext', ['cjs', 'mjs']],
  ['bundler', COMPILER, '--module esnext --moduleResolution bundler', ['mjs']],
  // The compiler of today checks the declarations themselves.
  ['node16', FORMER_COMPILER, '--skipLibCheck --module node16', ['cjs', 'mjs']],
  ['CommonJS only', FORMER_COMPILER, '--skipLibCheck --module commonjs --moduleResolution node10', ['cjs']],
] as const

it.for(COMPILERS)(
  'a program in TypeScript is compiled for %s, and runs',
  async ([, compiler, options, endings], { folder }) => {
    await installPacked(folder, 'commonjs')
    const sources = endings.map((ending) => `program.${ending.replace('js', 'ts')}`)
    for (const source of sources) writeFileSync(join(folder, source), PROGRAM)
    const compile = `${compiler} --target es2022 --strict --types node ${options} ${sources.join(' ')}`
    const runs = endings.map((ending) => `node program.${ending}`)
    const { stdout, stderr } = await runShell([compile, ...runs].join(' && '), { folder })
    expect({ stdout, stderr }).toEqual({ stdout: '200 refused function\n'.repeat(endings.length), stderr: '' })
  },
)

it('declares nothing with types of packages that a user does not install', async () => {
  const declarations = readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^types.*\.d\.c?ts$/.test(path))
    .map((path) => readFileSync(join(ROOT, 'dist', path), 'utf8'))
  const imported = declarations.flatMap((text) =>
    [...text.matchAll(/(?: from |\bimport\()['"]((?:@[^/'"]+\/)?[a-z][^/'"]*)/g)].flatMap(([, name = '']) =>
      name.startsWith('node:') ? [] : [name],
    ),
  )
  expect(imported).toContain('openapi-types')
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const installed = Object.keys({ ...dependencies, ...peerDependencies })
  expect(imported.filter((name) => !installed.includes(name))).toEqual([])
})

it('gives CommonJS and ECMAScript modules the same service, without a warning', async ({ folder }) => {
  await installPacked(folder, 'commonjs')
  mkdirSync(join(folder, 'source'))
  writeFileSync(
    join(folder, 'source/program.js'),
    `const required = require('dmarc-understudy')
import('dmarc-understudy').then((imported) => {
  const same = Object.keys(imported).filter((name) => imported[name] === required[name])
  console.log(same.length === Object.keys(required).length && same.includes('ViolationError'))
})\n`,
  )
  expect(await runShell('node source/program.js', { folder })).toMatchObject({ stdout: 'true\n', stderr: '', code: 0 })
})
