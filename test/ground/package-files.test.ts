import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  findPackageFile,
  findThreadModule,
  listPackageFiles,
  loadModule,
  readPackageFile,
} from '../../src/ground/package-files.ts'

describe('a file of the package', () => {
  it('is read by its path in the package, from wherever the program was started', () => {
    expect(readPackageFile('openapi.yaml')).toEqual(readFileSync(new URL('../../openapi.yaml', import.meta.url)))
  })

  it('is not there, or that is an error', () => {
    expect(findPackageFile('fixtures/none.json')).toBeUndefined()
    expect(() => readPackageFile('fixtures/none.json')).toThrow('ENOENT')
  })

  it('of a kind that cannot be read is an error', () => {
    expect(() => findPackageFile('fixtures')).toThrow('EISDIR')
  })
})

it('lists the files of a folder of the package', () => {
  expect(listPackageFiles('fixtures')).toContain('demo.json')
})

it('loads a module of another package by its name', () => {
  expect(loadModule('ajv/dist/2020.js')).toHaveProperty('Ajv2020')
})

it('finds no module for a thread in the sources', () => {
  expect(findThreadModule('dist/parts/judge-thread.js')).toBeUndefined()
})
