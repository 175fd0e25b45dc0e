import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { controlToolsOf, nameTool } from '../../src/mcp/control-tools.ts'
import { LEFT_OUT, operationsOf, whyLeftOut } from '../../src/mcp/offers.ts'
import { ownToolsOf } from '../../src/mcp/own-tools.ts'
import { controlApi } from '../support/control-plane.ts'
import { objectsIn } from '../support/own-document.ts'

const ask = async () => ({})
const document = controlApi.document.resolved as unknown as Json
const operations = operationsOf(document)
const own = ownToolsOf({ ask, baseUrl: '', adminUrl: '', apiKey: '', assumptions: async () => [], caveat: undefined })
const ofControl = controlToolsOf(document, ask)
const tools = [...own, ...ofControl]
const toolNamed = (name: string) => {
  const tool = tools.find((each) => each.name === name)
  if (tool === undefined) throw new Error(`There is no tool ${name}.`)
  return tool
}

describe('an operation of the control plane', () => {
  it('is a tool, or is left out for a reason', () => {
    const named = new Set(ofControl.map(({ name }) => name))
    const left = operations.filter((operation) => !named.has(nameTool(operation.id)))
    expect(named.size + left.length).toBe(controlApi.operations.length)
    expect(Object.fromEntries(left.map((operation) => [operation.id, whyLeftOut(operation)]))).toEqual({
      ...LEFT_OUT,
      getDashboard: 'It answers with text/html, and a tool answers with JSON.',
      streamEvents: 'It answers with text/event-stream, and a tool answers with JSON.',
      streamAllEvents: 'It answers with text/event-stream, and a tool answers with JSON.',
    })
  })

  it.each([
    ['createAccount', { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ['getAccount', { readOnlyHint: true }],
    ['verifyRequests', { readOnlyHint: true }],
    ['resetAccount', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ['updateClock', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ['setFeatures', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ['deleteFault', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
  ])('%s has the hints of its method', (id, hints) => {
    expect(toolNamed(nameTool(id)).annotations).toEqual({ ...hints, openWorldHint: false })
  })

  it('has the words of the document', () => {
    expect(toolNamed('restore_snapshot')).toMatchObject({
      title: 'Restore a snapshot',
      description: 'Restore a snapshot.\nThe account becomes what it was, with its clock. Journal and coverage stay.',
    })
    expect(toolNamed('update_clock').description).toContain(
      'At least one field is needed.\nRefused otherwise: to says by itself where the clock moves, so now and advance cannot.',
    )
  })
})

describe('the arguments of a tool', () => {
  it.each(tools.map((tool) => [tool.name, tool] as const))('%s are a plain schema', (_, { inputSchema }) => {
    new Ajv2020({ strictTypes: false, allowUnionTypes: true, validateFormats: false }).compile(inputSchema)
    for (const key of ['anyOf', 'oneOf', 'allOf', 'not', '$ref']) expect(inputSchema).not.toHaveProperty(key)
    for (const { value } of objectsIn(inputSchema)) {
      expect(Object.keys(value).filter((key) => key.startsWith('x-') || key === '$ref')).toEqual([])
    }
    for (const name of Object.keys(inputSchema.properties)) expect(name).toMatch(/^[a-z_]{1,64}$/)
    for (const name of inputSchema.required ?? []) expect(inputSchema.properties).toHaveProperty(name)
  })

  it('are all parameters of an operation and all fields of its body, each once', () => {
    for (const operation of operations.filter((each) => whyLeftOut(each) === undefined)) {
      const { properties } = toolNamed(nameTool(operation.id)).inputSchema
      const parameters = (operation.content['parameters'] ?? []) as { name: string }[]
      const body = valueAt(operation.content, '/requestBody/content/application~1json/schema')
      const fields = isObject(body) ? Object.keys((body['properties'] as Json | undefined) ?? { body: true }) : []
      const names = [...parameters.map(({ name }) => name.replaceAll('-', '_')), ...fields]
      const rest = Object.keys(properties).filter((name) => !names.includes(name))
      expect(new Set(names).size, operation.id).toBe(names.length)
      expect([[], ['part', 'max_characters']], operation.id).toContainEqual(rest)
    }
  })

  it('are numbers and booleans where a query writes them as text', () => {
    const { properties } = toolNamed('list_requests').inputSchema
    const types = Object.entries(properties).map(([name, schema]) => [name, (schema as Json)['type']])
    expect(Object.fromEntries(types)).toEqual({
      ...{ account: 'string', operation: 'string', method: 'string', path: 'string', code: 'string' },
      ...{ fault: 'string', search: 'string', part: 'string' },
      ...{ status: 'integer', limit: 'integer', before: 'integer', max_characters: 'integer' },
      ...{ violation: 'boolean', refused: 'boolean', injected: 'boolean' },
    })
    expect(toolNamed('list_daily_records').inputSchema.properties['from']).toMatchObject({ type: 'string' })
  })
})

describe('the tools', () => {
  it('have names that every client takes', () => {
    for (const { name } of tools) expect(name).toMatch(/^[a-z][a-z_]{2,48}$/)
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
  })

  it('are described in so few words that an assistant can have all of them at hand', () => {
    expect(JSON.stringify(tools).length).toBeLessThan(50_000)
  })

  it('are in docs/assistants.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/assistants.md'), 'utf8')
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    expect(rows).toEqual(tools.map(({ name, title }) => `| \`${name}\` | ${title} |`))
  })
})
