import { describe, expect, it } from 'vitest'
import { queryOf, readParameters, readQuery, readTarget, splitTarget, writeQuery } from '../../src/ground/target.ts'

describe('A request target', () => {
  it.each([
    ['/api/v1/domains', '/api/v1/domains', undefined],
    ['/api/v1/domaingroups?id=x', '/api/v1/domaingroups', 'id=x'],
    ['/a?', '/a', ''],
    ['/a?b?c', '/a', 'b?c'],
    ['http://host.example:4010/a?b=c', '/a', 'b=c'],
    ['HTTPS://host.example', '', undefined],
    ['http://host.example?b=c', '', 'b=c'],
    ['*', '*', undefined],
    ['', '', undefined],
  ])('%s has the path %j and the query %j', (target, path, query) => {
    expect(splitTarget(target)).toEqual({ path, query })
    expect(queryOf(target)).toBe(query ?? '')
    expect(readTarget(target)).toEqual({ path, query: readQuery(query ?? '') })
  })

  it.each<[query: string, parameters: [string, string][]]>([
    ['', []],
    ['id=4fTq81Zb', [['id', '4fTq81Zb']]],
    ['id=', [['id', '']]],
    ['id', [['id', '']]],
    ['na%6De=a+b%20c', [['name', 'a b c']]],
    ['__proto__=x', [['__proto__', 'x']]],
    ['id=%ff', [['id', '\ufffd']]],
  ])('with the query %s has the parameters %j', (query, parameters) => {
    expect(readParameters(query)).toEqual(parameters)
    expect(Object.entries(readQuery(query))).toEqual(parameters)
  })

  it('has the first of several parameters with one name', () => {
    expect(readParameters('id=one&id=two').flat()).toEqual(['id', 'one', 'id', 'two'])
    expect(readQuery('id=one&id=two')).toEqual({ id: 'one' })
  })

  it.each<[query: string, names: string[], values: string[]]>([
    ['', [], []],
    ['?id=4fTq81Zb', ['id'], ['4fTq81Zb']],
    ['?a+b=%26&a+b=%C3%B6', ['a b', 'a b'], ['&', 'ö']],
  ])('is written %j with the parameters %j that are %j', (query, names, values) => {
    expect(writeQuery(names.map((name, index) => [name, values[index] ?? '']))).toBe(query)
  })
})
