import { describe, expect, it } from 'vitest'
import { queryOf, readParameters, readQuery, readTarget, splitTarget, writeQuery } from '../../src/http/target.ts'

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
    [
      'id=one&id=two',
      [
        ['id', 'one'],
        ['id', 'two'],
      ],
    ],
    ['na%6De=a+b%20c', [['name', 'a b c']]],
    ['__proto__=x', [['__proto__', 'x']]],
    ['id=%ff', [['id', '\ufffd']]],
  ])('with the query %s has these parameters, of which the first of each name counts', (query, parameters) => {
    expect(readParameters(query)).toEqual(parameters)
    const first = new Map(parameters.toReversed())
    expect(new Map(Object.entries(readQuery(query)))).toEqual(first)
  })

  it.each<[parameters: [string, string][], query: string]>([
    [[], ''],
    [[['id', '4fTq81Zb']], '?id=4fTq81Zb'],
    [
      [
        ['a b', '&'],
        ['a b', 'ö'],
      ],
      '?a+b=%26&a+b=%C3%B6',
    ],
  ])('is written with its parameters %j as %j', (parameters, query) => {
    expect(writeQuery(parameters)).toBe(query)
  })
})
