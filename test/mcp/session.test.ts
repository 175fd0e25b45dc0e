import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/ground/log.ts'
import { LONGEST_MESSAGE } from '../../src/mcp/session.ts'
import { type AssistantTool, READS } from '../../src/mcp/tool.ts'
import { type Assistant, INITIALIZE, openSessionWith } from './assistant.ts'

const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const SHAPE = 'Send an object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.'
const BAD_ID = `The id of the message is neither a text nor a whole number below 2^53. ${SHAPE}`

/** A tool that does what the test says. */
function toolOf(call: AssistantTool['call']): AssistantTool {
  const said = { name: 'try', title: 'Try', description: 'Tries.', annotations: READS }
  return { ...said, inputSchema: { type: 'object', properties: {} }, call }
}

async function begun(tools: readonly AssistantTool[] = [], log?: Log): Promise<Assistant> {
  const assistant = await openSessionWith(tools, log)
  await assistant.begin()
  return assistant
}

describe('a line of a session', () => {
  it.each<[what: string, line: string, code: number, message: string, id?: number | string]>([
    ['is no JSON', '{"jsonrpc"', -32700, 'Send each message as JSON in one line.'],
    ['is a batch', JSON.stringify([LIST, LIST]), -32600, 'The protocol has none; send each message in a line of its'],
    ['is a number', '7', -32600, `The line is no object. ${SHAPE}`],
    ['has no version', '{"id":7,"method":"ping"}', -32600, `The message has no "jsonrpc":"2.0". ${SHAPE}`, 7],
    ['has no method', '{"jsonrpc":"2.0","id":"a"}', -32600, `The message has no method. ${SHAPE}`, 'a'],
    ['has an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, BAD_ID],
    ['has an id that nobody can repeat', '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32600, BAD_ID],
    [
      'has a list as params',
      '{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}',
      -32600,
      `The params of the message are no object. ${SHAPE}`,
      7,
    ],
    [
      'has a strange field',
      '{"jsonrpc":"2.0","id":7,"method":"ping","more":1}',
      -32600,
      'is no message of JSON-RPC',
      7,
    ],
    ['has an unknown method', '{"jsonrpc":"2.0","id":5,"method":"prompts/list"}', -32601, 'Method not found', 5],
  ])('that %s is answered with a sentence, and the session goes on', async (_, line, code, message, id) => {
    const told: string[] = []
    const assistant = await begun([], { info() {}, error() {}, warn: (_fields, text) => void told.push(text) })
    assistant.say(line)
    const answer = await assistant.next()
    expect(answer).toMatchObject({ error: { code, message: expect.stringContaining(message) } })
    expect(answer.id).toBe(id)
    if (code !== -32601) expect(told).toEqual([answer.error.message])
    expect(await assistant.ask('tools/list')).toEqual({ tools: [] })
  })

  it('that is empty is skipped, and one that is too long is refused before its end', async () => {
    const assistant = await begun()
    assistant.say('\n \r\n')
    expect(await assistant.ask('tools/list')).toEqual({ tools: [] })
    assistant.say(' '.repeat(LONGEST_MESSAGE + 1))
    const message = 'The message is longer than 10485760 bytes. Send a shorter one; a large fixture can be a file for'
    expect((await assistant.next()).error.message).toContain(message)
    expect(await assistant.ask('tools/list')).toEqual({ tools: [] })
  })
})

describe('a session', () => {
  it('refuses what comes before initialize, except a ping', async () => {
    const assistant = await openSessionWith()
    await expect(assistant.ask('tools/list')).rejects.toThrow(
      'The session has not begun, so tools/list comes too early. Send initialize first, or name the revision',
    )
    expect(await assistant.ask('ping')).toEqual({})
    expect(await assistant.begin()).toMatchObject({
      serverInfo: { name: 'dmarc-understudy', version: '1.2.3' },
      instructions: expect.stringMatching(/^The stand-in behaves as the real service does/),
    })
  })

  it.each([
    ['1999-12-31', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
  ])('that is begun in revision %s goes on in revision %s', async (asked, answered) => {
    const assistant = await openSessionWith()
    assistant.say({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: asked } })
    expect((await assistant.next()).result.protocolVersion).toBe(answered)
    expect(await assistant.ask('tools/list')).toEqual({ tools: [] })
  })

  it.each([
    ['lines', `${JSON.stringify(LIST)}\n`],
    ['a line without its end', JSON.stringify(LIST)],
  ])('whose input ends after %s answers them before it ends', async (_, last) => {
    const assistant = await openSessionWith()
    assistant.say(INITIALIZE)
    expect(await assistant.end(last)).toEqual(['first', 2])
  })

  it('whose input ends before it has begun ends, too', async () => {
    expect(await (await openSessionWith()).end()).toEqual([])
  })

  it.each([
    ['waits at its end for an answer that takes long', '', ['first', 2]],
    [
      'does not wait for what was cancelled',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n',
      ['first'],
    ],
  ])('%s', async (_, last, answered) => {
    const tool = new EventEmitter()
    const slow = toolOf(async () => {
      tool.emit('begins')
      await once(tool, 'ends')
      return { data: {}, text: 'done' }
    })
    const assistant = await openSessionWith([slow])
    assistant.say(INITIALIZE)
    assistant.say({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'try', arguments: {} } })
    await once(tool, 'begins')
    const ended = assistant.end(last)
    if (last === '') setImmediate(() => tool.emit('ends'))
    expect(await ended).toEqual(answered)
  })
})

describe('a tool', () => {
  it('that fails by a mistake of ours says so without a stack, which goes to the log', async () => {
    const logged: unknown[] = []
    const log: Log = { info() {}, warn() {}, error: (fields, message) => void logged.push(fields, message) }
    const error = new Error('boom')
    const { text, isError } = await (await begun([toolOf(() => Promise.reject(error))], log)).call('try')
    expect({ text, isError }).toEqual({
      text: 'The tool try failed, which is a mistake of dmarc-understudy; its log on standard error has the reason.',
      isError: true,
    })
    expect(logged).toEqual([{ err: error }, 'The tool try failed.'])
  })
})
