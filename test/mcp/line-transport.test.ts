import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/http/log.ts'
import { splitLines } from '../../src/mcp/lines.ts'
import { LONGEST_MESSAGE } from '../../src/mcp/session.ts'
import { type AssistantTool, READS } from '../../src/mcp/tool.ts'
import { openRawSession, type RawSession } from './assistant.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const SHAPE = 'Send an object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.'

function say(session: RawSession, message: unknown): void {
  session.write(`${JSON.stringify(message)}\n`)
}

async function begun(log?: Log): Promise<RawSession> {
  const session = await openRawSession([], log)
  say(session, INITIALIZE)
  await session.next()
  return session
}

describe('a line of a session', () => {
  it.each<[what: string, line: string, code: number, message: string | RegExp, id?: number | string]>([
    ['is no JSON', '{"jsonrpc"', -32700, /^The line is no JSON: .+\. Send each message as JSON in one line\.$/],
    [
      'is a batch',
      JSON.stringify([LIST, LIST]),
      -32600,
      'The line is a batch of messages. The protocol has none; send each message in a line of its own.',
    ],
    ['is a number', '7', -32600, `The line is no object. ${SHAPE}`],
    ['is null', 'null', -32600, `The line is no object. ${SHAPE}`],
    [
      'has no version of JSON-RPC',
      '{"id":7,"method":"ping"}',
      -32600,
      `The message has no "jsonrpc":"2.0". ${SHAPE}`,
      7,
    ],
    ['has no method', '{"jsonrpc":"2.0","id":"a"}', -32600, `The message has no method. ${SHAPE}`, 'a'],
    [
      'has an object as id',
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      -32600,
      `The id of the message is neither a text nor a whole number below 2^53. ${SHAPE}`,
    ],
    [
      'has an id that no program can repeat',
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}',
      -32600,
      `The id of the message is neither a text nor a whole number below 2^53. ${SHAPE}`,
    ],
    [
      'has a list as params',
      '{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}',
      -32600,
      `The params of the message are no object. ${SHAPE}`,
      7,
    ],
    [
      'has a field that no message has',
      '{"jsonrpc":"2.0","id":7,"method":"ping","more":1}',
      -32600,
      `The line is no message of JSON-RPC 2.0. ${SHAPE}`,
      7,
    ],
  ])('that %s is answered with a sentence, and the session goes on', async (_, line, code, message, id) => {
    const told: string[] = []
    const session = await begun({ info() {}, error() {}, warn: (_fields, text) => void told.push(text) })
    session.write(`${line}\n`)
    const answer = await session.next()
    expect(answer.error.code).toBe(code)
    expect(answer.error.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
    expect(answer.id).toBe(id)
    expect(told).toEqual([answer.error.message])
    say(session, LIST)
    expect(await session.next()).toMatchObject({ id: 2, result: { tools: [] } })
  })

  it('that is empty is skipped', async () => {
    const session = await begun()
    session.write('\n \r\n')
    say(session, LIST)
    expect(await session.next()).toMatchObject({ id: 2 })
  })

  it('that is too long is refused before its end, and the line after it is read', async () => {
    const session = await begun()
    session.write(Buffer.alloc(LONGEST_MESSAGE + 1, ' '))
    const { error } = await session.next()
    expect(error).toEqual({
      code: -32600,
      message:
        'The message is longer than 10485760 bytes. Send a shorter one; a large fixture can be a file for --fixture.',
    })
    session.write('the rest of it\n')
    say(session, LIST)
    expect(await session.next()).toMatchObject({ id: 2 })
  })
})

describe('lines of at most 4 bytes', () => {
  it.each<[chunks: string[], lines: (string | undefined)[]]>([
    [['ab\ncd\n'], ['ab', 'cd']],
    [
      ['a', 'b', '\n', '\n'],
      ['ab', ''],
    ],
    [['abcd\nabcde\nf\n'], ['abcd', undefined, 'f']],
    [
      ['abcd', 'efgh', 'ijkl\nm\n'],
      [undefined, 'm'],
    ],
    [['é', 'é\n'], ['éé']],
    [['no end'], [undefined]],
    [['end'], []],
  ])('of %j are %j', (chunks, lines) => {
    const taken: (string | undefined)[] = []
    const take = splitLines(4, (line) => taken.push(line))
    for (const chunk of chunks) take(Buffer.from(chunk))
    expect(taken).toEqual(lines)
  })
})

describe('a session', () => {
  it('refuses what comes before initialize, except a ping', async () => {
    const session = await openRawSession()
    say(session, LIST)
    expect(await session.next()).toMatchObject({
      id: 2,
      error: {
        code: -32600,
        message:
          'The session has not begun, so tools/list comes too early. Send initialize first, or name the revision of the protocol in _meta of each request.',
      },
    })
    say(session, { jsonrpc: '2.0', id: 3, method: 'ping' })
    expect(await session.next()).toMatchObject({ id: 3, result: {} })
    say(session, INITIALIZE)
    expect(await session.next()).toMatchObject({ id: 1, result: { serverInfo: { name: 'dmarc-understudy' } } })
  })

  it.each([
    ['1999-12-31', '2025-11-25'],
    ['2024-11-05', '2024-11-05'],
    ['2025-06-18', '2025-06-18'],
  ])('answers initialize of revision %s with revision %s, in which it goes on', async (asked, answered) => {
    const session = await openRawSession()
    say(session, { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: asked } })
    expect(await session.next()).toMatchObject({ result: { protocolVersion: answered, capabilities: { tools: {} } } })
    say(session, LIST)
    expect(await session.next()).toMatchObject({ id: 2, result: {} })
  })

  const claim = (revision: string) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  })

  it('needs no initialize where each request names the revision, and names those that it knows', async () => {
    const session = await openRawSession()
    say(session, { ...LIST, params: claim('2999-01-01') })
    expect(await session.next()).toMatchObject({ id: 2, error: { data: { supported: ['2026-07-28'] } } })
    say(session, { ...LIST, id: 3, params: claim('2026-07-28') })
    expect(await session.next()).toMatchObject({ id: 3, result: { tools: [] } })
  })

  it('answers what was asked before the end of its input, and ends', async () => {
    const session = await openRawSession()
    for (const message of [INITIALIZE, LIST, { ...LIST, id: 3, method: 'resources/list' }]) say(session, message)
    session.end()
    const answers = await session.rest()
    expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2, 3])
    await session.ended
  })

  it('answers a last line without its end', async () => {
    const session = await openRawSession()
    say(session, INITIALIZE)
    session.write(JSON.stringify(LIST))
    session.end()
    expect((await session.rest()).map(({ id }) => id)).toEqual([1, 2])
  })

  const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: {} } })
  function waiting() {
    let [begin, answer] = [() => {}, () => {}]
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    const tool: AssistantTool = {
      ...{ name: 'wait', title: 'Wait', description: 'Waits.', annotations: READS },
      inputSchema: { type: 'object', properties: {} },
      async call() {
        begin()
        await answered
        return { data: {}, text: 'done' }
      },
    }
    return { tool, begun, answer }
  }

  it('waits at the end of its input for an answer that takes long', async () => {
    const { tool, begun, answer } = waiting()
    const session = await openRawSession([tool])
    for (const message of [INITIALIZE, call(2)]) say(session, message)
    session.end()
    await begun
    setImmediate(answer)
    expect((await session.rest()).map(({ id }) => id)).toEqual([1, 2])
  })

  it('does not wait at its end for what was cancelled', async () => {
    const { tool, begun } = waiting()
    const session = await openRawSession([tool])
    for (const message of [INITIALIZE, call(2)]) say(session, message)
    await begun
    say(session, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
    session.end()
    expect((await session.rest()).map(({ id }) => id)).toEqual([1])
  })

  it('ends when its input ends, although it was never begun', async () => {
    const session = await openRawSession()
    session.end()
    expect(await session.rest()).toEqual([])
  })

  it('refuses a method that it does not have', async () => {
    const session = await begun()
    say(session, { jsonrpc: '2.0', id: 5, method: 'prompts/list' })
    expect(await session.next()).toMatchObject({ id: 5, error: { code: -32601 } })
  })
})
