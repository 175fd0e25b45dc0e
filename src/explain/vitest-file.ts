import type { Expectation, ExpectedBody, Scenario } from './scenario.ts'
import { Code, writeRemark, writeText, writeValue } from './source-text.ts'

const LANGUAGE = 'javascript'
/** In milliseconds: the time limit for a response that never comes. */
const PATIENCE = 500

/** A file for vitest that sets the account up, sends the request, and expects the same outcome. */
export function writeVitest(scenario: Scenario): string {
  const { title, remarks, setUp, request, expected } = scenario
  const isPlain = canFetch(scenario)
  return [
    ...(isPlain ? [] : [importOf('request', 'node:http')]),
    importOf('createTest', 'dmarc-understudy/vitest'),
    importOf('expect', 'vitest'),
    '',
    ...remarks.map((remark) => `// ${writeRemark(remark)}`),
    'const test = createTest().extend({',
    `  accountOptions: ${writeValue(setUp, LANGUAGE, 2, 18)},`,
    '})',
    '',
    `test(${writeText(title, LANGUAGE)}, async ({ account }) => {`,
    ...preparations(scenario).map((line) => `  ${line}`),
    ...(isPlain ? fetchLines(scenario) : sendLines(scenario)).map((line) => `  ${line}`),
    ...expectations(expected, isPlain, request.method).map((line) => `  ${line}`),
    '})',
    ...(isPlain ? [] : ['', ...SEND]),
    '',
  ].join('\n')
}

function importOf(name: string, module: string): string {
  return `import { ${name} } from ${writeText(module, LANGUAGE)}`
}

/** Whether `fetch` can send the original request. */
function canFetch({ request: { method, path, isBelowBase, body } }: Scenario): boolean {
  const isUnsent = body !== undefined && (method === 'GET' || method === 'HEAD')
  if (isUnsent || ['CONNECT', 'TRACE', 'TRACK'].includes(method)) return false
  // The URL parser of browsers removes dot segments and a second slash.
  const url = `http://localhost${isBelowBase ? '/base' : ''}${path}`
  return URL.canParse(url) && new URL(url).href === url
}

function preparations({ hasDisabledKey, usedUp, rule }: Scenario): string[] {
  return [
    ...(hasDisabledKey
      ? ['const { key, api_key: apiKey } = await account.keys.create()', 'await account.keys.disable(key.id)']
      : []),
    ...(usedUp === undefined ? [] : [`await account.quotas.set(${writeText(usedUp, LANGUAGE)}, 0)`]),
    ...(rule === undefined ? [] : [`await account.faults.add(${writeValue(rule, LANGUAGE, 2, 27)})`]),
  ]
}

function fetchLines(scenario: Scenario): string[] {
  const { request, expected } = scenario
  const { method, body } = request
  const isEndless = expected.kind === 'failure' && expected.isEndless
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${writeText(method, LANGUAGE)},`]),
    `  headers: ${headersOf(scenario)},`,
    ...(body === undefined ? [] : [`  body: ${bodyOf(scenario)},`]),
    ...(isEndless ? [`  signal: AbortSignal.timeout(${PATIENCE}),`] : []),
  ]
  const call = [`fetch(${urlOf(scenario)}, {`, ...options, '})']
  if (expected.kind === 'response') return [`const response = await ${call[0]}`, ...call.slice(1)]
  return [`const answer = ${call[0]}`, ...call.slice(1, -1), '}).then((response) => response.text())']
}

function sendLines(scenario: Scenario): string[] {
  const { request, expected } = scenario
  return [
    '// fetch would not send this request as it was.',
    `const ${expected.kind === 'response' ? 'response = await' : 'answer ='} send(`,
    `  new URL(account.baseUrl),`,
    `  ${writeText(request.method, LANGUAGE)},`,
    `  ${pathOf(scenario)},`,
    `  ${headersOf(scenario)},`,
    ...(request.body === undefined ? [] : [`  ${bodyOf(scenario)},`]),
    ')',
  ]
}

function urlOf({ request: { path, isBelowBase } }: Scenario): string {
  const base = isBelowBase ? 'account.baseUrl' : 'new URL(account.baseUrl).origin'
  return path === '' ? base : `${base} + ${writeText(path, LANGUAGE)}`
}

function pathOf({ request: { path, isBelowBase } }: Scenario): string {
  return isBelowBase ? `new URL(account.baseUrl).pathname + ${writeText(path, LANGUAGE)}` : writeText(path, LANGUAGE)
}

function headersOf({ request: { headers }, hasDisabledKey }: Scenario): string {
  const own = hasDisabledKey ? "authorization: 'Bearer ' + apiKey" : '...account.headers'
  const others = Object.entries(headers).map(
    ([name, value]) => `${/^\w+$/.test(name) ? name : writeText(name, LANGUAGE)}: ${writeText(value, LANGUAGE)}`,
  )
  return others.length === 0 && !hasDisabledKey ? 'account.headers' : `{ ${[own, ...others].join(', ')} }`
}

function bodyOf({ request: { body, headers } }: Scenario): string {
  if (body === undefined) return ''
  const isTyped = headers['content-type'] !== undefined
  if (body.kind === 'bytes') return `Buffer.from(${writeText(body.bytes.toString('base64'), LANGUAGE)}, 'base64')`
  const text =
    body.kind === 'json' ? `JSON.stringify(${writeValue(body.value, LANGUAGE, 4, 24)})` : writeText(body.text, LANGUAGE)
  // `fetch` sets a content type for a text, but none for bytes.
  return isTyped ? text : `Buffer.from(${text})`
}

function expectations(expected: Expectation, isPlain: boolean, method: string): string[] {
  if (expected.kind === 'failure') return ['await expect(answer).rejects.toThrow()']
  const lines = [`expect(response.status).toBe(${expected.status})`]
  const text = isPlain ? 'await response.text()' : 'response.text'
  const json = isPlain ? 'await response.json()' : 'JSON.parse(response.text)'
  return method === 'HEAD' ? lines : [...lines, ...bodyLines(expected.body, text, json)]
}

function bodyLines(body: ExpectedBody, text: string, json: string): string[] {
  switch (body.kind) {
    case 'any':
      return []
    case 'success':
      return [`expect(${json}).toMatchObject({ success: true })`]
    case 'refusal': {
      const code = writeText(body.code, LANGUAGE)
      const lines = [`expect(${json}).toMatchObject({ success: false, error: { code: ${code} } })`]
      if (body.field === undefined) return lines
      return [
        ...lines,
        'const [sent] = await account.requests.list()',
        `expect(sent?.problems[0]).toMatchObject({ field: ${writeText(body.field, LANGUAGE)} })`,
      ]
    }
    case 'text':
      return [`expect(${text}).toBe(${writeText(body.text, LANGUAGE)})`]
    case 'json':
      return [`expect(${json}).toEqual(${writeValue(expectedValue(body, 'expect.any(String)'), LANGUAGE, 2, 40)})`]
  }
}

/** The expected value. The id of a new group depends on the account, so it is `anything`. */
export function expectedValue({ value, hasNewId }: { value: unknown; hasNewId: boolean }, anything: string): unknown {
  if (!hasNewId) return value
  const { data, ...rest } = value as { data: { group: object } }
  return { ...rest, data: { ...data, group: { ...data.group, id: new Code(anything) } } }
}

/** The source of a function that sends requests which `fetch` cannot send. */
const SEND = [
  'function send(',
  '  { hostname, port }: URL,',
  '  method: string,',
  '  path: string,',
  '  headers: Record<string, string>,',
  "  body: string | Uint8Array = '',",
  '): Promise<{ status: number | undefined; text: string }> {',
  '  return new Promise((resolve, reject) => {',
  "    const length = { 'content-length': String(Buffer.byteLength(body)) }",
  '    const sent = request({ hostname, port, method, path, headers: { ...headers, ...length } }, (response) => {',
  "      let text = ''",
  "      response.setEncoding('utf8').on('data', (part: string) => {",
  '        text += part',
  '      })',
  "      response.on('end', () => resolve({ status: response.statusCode, text })).on('error', reject)",
  '    })',
  `    sent.setTimeout(${PATIENCE * 20}, () => sent.destroy(new Error('No answer came in time.')))`,
  "    sent.on('error', reject).end(body)",
  '  })',
  '}',
]
