import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import SwaggerParser from '@apidevtools/swagger-parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { CONTROL_DOCUMENT } from '../../src/admin/document.ts'
import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { follow } from '../../src/contract/references.ts'
import { tolerantDocument, writeTolerantDocument } from '../../src/contract/tolerant.ts'
import { isObject, type Json, pointTo, valueAt } from '../../src/ground/json.ts'
import { placeOf } from '../../src/ground/package-files.ts'
import { makeProject } from '../support/client-project.ts'
import { OWN_DOCUMENT, objectsIn, ownDocument } from '../support/own-document.ts'
import { ROOT } from '../support/program-process.ts'
import { environmentWith } from '../support/running-program.ts'
import { startService } from '../support/service.ts'
import { playStory } from '../support/story.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const TOLERANT_DOCUMENT = join(ROOT, 'openapi.tolerant.yaml')
const SERVICE_DOCUMENTS = [
  ['openapi.yaml', OWN_DOCUMENT] as const,
  ['openapi.tolerant.yaml', TOLERANT_DOCUMENT] as const,
]

const run = promisify(execFile)

function read(path: string): Json {
  return load(readFileSync(path, 'utf8')) as Json
}

describe('Redocly with its strict rules', () => {
  async function lint(source: string, path: string) {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source, absoluteRef: path, config })
    return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])
  }

  it.each([...SERVICE_DOCUMENTS, ['the document of the control plane', placeOf(CONTROL_DOCUMENT)] as const])(
    'finds no problem in %s',
    async (_, path) => {
      expect(await lint(readFileSync(path, 'utf8'), path)).toEqual([])
    },
  )
})

describe('ajv with its usual options and formats', () => {
  /** A validator of the bodies of responses, made by somebody who has nothing but the document and ajv. */
  function validatorOf(path: string): (operation: Operation, status: number) => ValidateFunction {
    const document = read(path)
    const warnings: unknown[] = []
    const warn = (...words: unknown[]) => void warnings.push(words)
    const ajv = new Ajv2020({ logger: { log: warn, warn, error: warn } })
    formats.default(ajv)
    // In its strict mode, ajv must be told which other words there are. It does nothing with them.
    const words = [...objectsIn(document)].flatMap(({ value }) => Object.keys(value).filter((word) => /^x-/.test(word)))
    ajv.addVocabulary([...new Set(['example', ...Object.keys(document), ...words])])
    ajv.addSchema(document, 'document')
    return ({ path, method }, status) => {
      const responses = valueAt(document, `${pointTo('/paths', path)}/${method.toLowerCase()}/responses`)
      const response = follow(document, valueAt(responses, `/${status}`))
      const { $ref } = valueAt(response, '/content/application~1json/schema') as { $ref: string }
      const validate = ajv.getSchema(`document${$ref}`)
      if (validate === undefined) throw new Error(`${$ref} has no validator.`)
      expect(warnings).toEqual([])
      return validate as ValidateFunction
    }
  }

  async function readFigures(fixture: string) {
    const { contract, get } = await startService({ fixture })
    const { body } = await get('/dmarc')
    return { body, listDmarc: contract.operations.find(({ id }) => id === 'listDmarc') as Operation }
  }

  it.each(SERVICE_DOCUMENTS)('accepts by %s every response of a session', async (_, path) => {
    const validator = validatorOf(path)
    let accepted = 0
    for await (const { operation, name, received } of playStory(await startService())) {
      const validate = validator(operation, received.status)
      validate(received.body)
      expect(validate.errors ?? [], `${operation.id} ${name}`).toEqual([])
      accepted++
    }
    expect(accepted).toBeGreaterThan(15)
  })

  it.each(SERVICE_DOCUMENTS)('accepts by %s every record, whatever its decimals are', async (_, path) => {
    const { body, listDmarc } = await readFigures('agency')
    const validate = validatorOf(path)(listDmarc, 200)
    validate(body)
    expect(validate.errors ?? []).toEqual([])
    const inexact = (body.data as { dkim: number }[]).filter(({ dkim }) => !Number.isInteger(dkim / 0.1))
    expect(inexact.length).toBeGreaterThan(10)
  })

  it('refuses by openapi.yaml a value that the service does not have', async () => {
    const { body, listDmarc } = await readFigures('demo')
    body.data[0].p = 'monitor'
    expect(validatorOf(OWN_DOCUMENT)(listDmarc, 200)(body)).toBe(false)
    expect(validatorOf(TOLERANT_DOCUMENT)(listDmarc, 200)(body)).toBe(true)
  })
})

/** A copy in which each schema has its `x-constraints` as keywords of its own. */
function withAllConstraints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAllConstraints)
  if (!isObject(value)) return value
  const { 'x-constraints': constraints, ...rest } = value
  const all = { ...rest, ...(constraints as Json | undefined) }
  return Object.fromEntries(Object.entries(all).map(([name, each]) => [name, withAllConstraints(each)]))
}

describe('Swagger Parser', () => {
  it('is valid OpenAPI 3.1 for a parser that knows none of its extensions', async () => {
    const api = await SwaggerParser.validate(ownDocument() as never)
    expect(api.info.title).toBe('Domain Monitoring Service API')
  })

  it('has references that lead such a parser where they lead us', async () => {
    const { document } = await loadContract()
    const dereferenced = await SwaggerParser.dereference(structuredClone(document.source) as never)
    expect(withAllConstraints(dereferenced)).toEqual(document.resolved)
  })
})

it('openapi.tolerant.yaml is what the build makes of openapi.yaml as it is now', async () => {
  const { document } = await loadContract()
  const built = readFileSync(TOLERANT_DOCUMENT, 'utf8')
  expect(built).toBe(await writeTolerantDocument(document.source))
  expect(load(built)).toEqual(tolerantDocument(ownDocument()))
})

describe('openapi-typescript', () => {
  it('makes types of both documents with which a client can be written', async () => {
    const folder = temporaryFolder()
    makeProject(folder)
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
    copyFileSync(join(ROOT, 'test/contract/typed-client.ts'), join(folder, 'client.ts'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', allowImportingTsExtensions: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    // It needs an earlier compiler than this one, so it is fetched as somebody does who has no project for it.
    for (const [name, path] of Object.entries({ strict: OWN_DOCUMENT, tolerant: TOLERANT_DOCUMENT })) {
      const command = ['-y', 'openapi-typescript@7.13.0', path, '--output', `${name}.ts`]
      await run('npx', command, { cwd: folder, env: environmentWith() })
    }
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '--project', folder]).catch((error) => error)
    expect(stdout).toBe('')
  })
})

describe('a program that has the package installed', () => {
  it('finds both documents by the name of the package', async () => {
    const folder = temporaryFolder()
    makeProject(folder)
    const names = ['openapi.yaml', 'openapi.tolerant.yaml'].map((name) => `dmarc-understudy/${name}`)
    const program = `console.log(${names.map((name) => `import.meta.resolve('${name}')`).join(', ')})`
    writeFileSync(join(folder, 'program.mjs'), program)
    const { stdout } = await run(process.execPath, ['--preserve-symlinks', join(folder, 'program.mjs')])
    const found = stdout.trim().split(' ')
    expect(found.map((url) => read(fileURLToPath(url))['openapi'])).toEqual(['3.1.1', '3.1.1'])
  })
})
