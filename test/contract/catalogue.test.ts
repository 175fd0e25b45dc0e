import { describe, expect, it } from 'vitest'
import { Catalogue } from '../../src/contract/catalogue.ts'
import { ERROR_CODES, type Problem } from '../../src/domain/errors.ts'
import { objectAt, ownDocument } from '../support/own-document.ts'

const catalogue = Catalogue.read(ownDocument(), ERROR_CODES, 'openapi.yaml')

/** A catalogue that says `message` for `not_found`. */
function saying(message: string): Catalogue {
  const document = ownDocument()
  objectAt(document, '/x-errors')['not_found'] = { status: 404, message }
  return Catalogue.read(document, ERROR_CODES, 'openapi.yaml')
}

const say = (message: string, problem: Omit<Problem, 'code'>) =>
  saying(message).answer({ code: 'not_found', ...problem }).message

describe('of several problems', () => {
  it.each(ERROR_CODES.slice(1).map((code, rank) => [ERROR_CODES[rank] ?? code, code] as const))(
    '`%s` is answered rather than `%s`',
    (higher, lower) => {
      expect(catalogue.foremost([{ code: lower }, { code: higher }]).code).toBe(higher)
      expect(catalogue.foremost([{ code: higher }, { code: lower }]).code).toBe(higher)
    },
  )

  it('the first of one code is answered, or the only one', () => {
    const [first, ...rest] = ['/domains/1', '/domains/0', '/domains/2'].map(
      (field): Problem => ({ code: 'invalid_domain', field }),
    ) as [Problem, ...Problem[]]
    expect(catalogue.foremost([first])).toBe(first)
    expect(catalogue.foremost([first, ...rest])).toBe(first)
    expect(catalogue.foremost([{ code: 'duplicate_name' }, first, ...rest])).toBe(first)
  })
})

describe('a problem is answered', () => {
  const NO_JSON = 'Request body must contain valid JSON.'
  const TOO_LOW = 'The plan sand does not include API access; it starts with the plan stone.'
  const TOO_LONG = '`name` must be a name of at most 100 characters, not 101.'
  const NO_HOST = '`domains[3]` must be a valid hostname, which "no host" is not.'
  const about = { limit: 100, count: 101 }
  const plan = { plan: 'sand', lowest: 'stone' }
  const cap = { plan: 'sand', limit: 3, count: 4 }
  const TOO_MANY = 'The plan sand includes 3 domain groups, and 4 are too many.'
  const body = 'invalid_request_body'
  const name = { code: 'invalid_name', field: '/name' } as const
  const host = { code: 'invalid_domain', field: '/domains/3', value: 'no host' } as const
  const domains = { code: 'missing_field', field: '/domains' } as const

  it.each<[what: string, problem: Problem, status: number, message: string]>([
    ['by its code', { code: 'invalid_json' }, 400, NO_JSON],
    ['in the words of its reason', { code: body, reason: 'absent' }, 400, 'Request body must not be empty.'],
    ['with the status of its reason', { code: 'unauthorized', reason: 'plan', about: plan }, 403, TOO_LOW],
    ['with the status of another reason', { code: 'unauthorized', reason: 'group-cap', about: cap }, 403, TOO_MANY],
    ['by its code when the reason has no words', { code: 'invalid_json', reason: 'bytes' }, 400, NO_JSON],
    ['by its code when the reason is __proto__', { code: 'invalid_json', reason: '__proto__' }, 400, NO_JSON],
    ['with the field', { ...domains, reason: 'required' }, 400, 'The field `domains` is required.'],
    ['with the entry of an array', { ...host, reason: 'format' }, 400, NO_HOST],
    ['with a query parameter', { code: 'missing_id', field: 'id' }, 400, 'The query parameter `id` is required.'],
    ['with all of a template', { ...name, reason: 'maxLength', about }, 400, TOO_LONG],
    ['with a value of another type', { code: 'not_found', value: 7 }, 404, 'No domain group has the id 7.'],
  ])('%s', (_, problem, status, message) => {
    expect(catalogue.answer(problem)).toEqual({ status, code: problem.code, message })
  })
})

describe('a field is named', () => {
  it.each(
    Object.entries({
      ...{ '/domains': 'domains', '/domains/3': 'domains[3]', '/domains/0/name': 'domains[0].name', id: 'id' },
      ...{ '/a/b/12/c': 'a.b[12].c', '/3': '3', '/': '', 'a/b': 'a/b' },
      ...{ '/a~1b': 'a/b', '/a~0b': 'a~b', '/a~01b': 'a~1b', 'a~1b': 'a~1b' },
    }),
  )('%j as %j', (field, name) => {
    expect(say('{field}', { field })).toBe(`\`${name}\``)
  })

  it('as the body where it is the whole', () => {
    expect(say('{field} is wrong.', { field: '' })).toBe('The body is wrong.')
  })

  it.each([
    ['a template', '{value}'],
    ['a pattern of replacement', '$& $1 $` $$'],
    ['half a character', '\ud800'],
  ])('as it was sent when it holds %s', (_, name) => {
    const field = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const message = say('The field {field} is not supported.', { field, value: 'SECRET' })
    expect(message).toBe(`The field \`${name}\` is not supported.`)
    expect(JSON.parse(JSON.stringify(message))).toBe(message)
  })
})

describe('a template', () => {
  it.each<[template: string, problem: Omit<Problem, 'code'>, message: string]>([
    ['{limit} of {limit}', { about: { limit: 3 } }, '3 of 3'],
    ['{limit}', {}, '{limit}'],
    ['{limit}', { about: { limit: 0 } }, '0'],
    ['{domain}', { about: { domain: 'a'.repeat(200) } }, `${'a'.repeat(99)}…`],
    ['{} {a b} { limit }', { about: { limit: 3 } }, '{} {a b} { limit }'],
    ['{field}', {}, '``'],
    ['{value}', { value: 'a "b"\n' }, '"a \\"b\\"\\n"'],
    ['{value}', { value: 'x'.repeat(99) }, `"${'x'.repeat(98)}…`],
    ['{value} {plan}', { value: '{plan}', about: { plan: '{value}' } }, '"{plan}" {value}'],
    ['{field}', { field: `/${'x'.repeat(101)}` }, `\`${'x'.repeat(99)}…\``],
  ])('%j is filled in: %j → %j', (template, problem, message) => {
    expect(say(template, problem)).toBe(message)
  })
})
