import type { ServerUrls } from '../coverage/curl.ts'
import type { Expectation, ExpectedBody, Scenario } from './scenario.ts'
import { Code, writeRemark, writeText, writeValue } from './source-text.ts'
import { expectedValue } from './vitest-file.ts'

const LANGUAGE = 'python'
const ANY = 'ANY'

/** A pytest file that sends the same request to a running server. It needs only the standard library of Python. */
export function writePytest(scenario: Scenario, { baseUrl, adminUrl }: ServerUrls): string {
  const { title, remarks, setUp, request, expected } = scenario
  const needsPytest = expected.kind === 'failure'
  const needsAny = expected.kind === 'response' && expected.body.kind === 'json' && expected.body.hasNewId
  return [
    '# The server must run; `dmarc-understudy run -- python3 -m pytest` starts one.',
    ...(request.body?.kind === 'bytes' ? ['import base64'] : []),
    'import http.client',
    'import json',
    'import os',
    'import urllib.parse',
    ...(needsAny ? ['from unittest.mock import ANY'] : []),
    ...(needsPytest ? ['', 'import pytest'] : []),
    '',
    `ADMIN = os.environ.get("UNDERSTUDY_ADMIN_URL", ${writeText(adminUrl, LANGUAGE)})`,
    `BASE = os.environ.get("UNDERSTUDY_BASE_URL", ${writeText(baseUrl, LANGUAGE)})`,
    '',
    '',
    ...SEND,
    '',
    '',
    ...remarks.map((remark) => `# ${writeRemark(remark)}`),
    `def ${nameOf(title)}():`,
    `    made = control("POST", "/accounts", ${writeValue(setUp, LANGUAGE, 4, 40)})`,
    '    account = "/accounts/" + made["account"]["id"]',
    '    try:',
    ...[...preparations(scenario), ...requestLines(scenario), ...expectations(expected)].map(
      (line) => `        ${line}`,
    ),
    '    finally:',
    '        control("DELETE", account)',
    '',
  ].join('\n')
}

/** `test_add_domains_answers_400_invalid_domain` */
function nameOf(title: string): string {
  const words = title.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
  const name = words.replaceAll(/[^a-z\d]+/g, '_').replaceAll(/^_+|_+$/g, '')
  return `test_${name.slice(0, 80)}`
}

function preparations({ hasDisabledKey, usedUp, rule }: Scenario): string[] {
  return [
    ...(hasDisabledKey
      ? [
          'made = control("POST", account + "/keys", {})',
          'control("PATCH", account + "/keys/" + made["key"]["id"], {"disabled": True})',
        ]
      : []),
    ...(usedUp === undefined
      ? []
      : [`control("PATCH", account + "/quotas", {"bucket": ${writeText(usedUp, LANGUAGE)}, "remaining": 0})`]),
    ...(rule === undefined ? [] : [`control("POST", account + "/faults", ${writeValue(rule, LANGUAGE, 8, 46)})`]),
  ]
}

function requestLines({ request, expected }: Scenario): string[] {
  const { method, path, isBelowBase, headers, body } = request
  const base = isBelowBase ? 'BASE' : 'urllib.parse.urljoin(BASE, "/")[:-1]'
  const url = path === '' ? base : `${base} + ${writeText(path, LANGUAGE)}`
  const fields = { authorization: new Code('"Bearer " + made["api_key"]'), ...headers }
  const lines = [`headers = ${writeValue(fields, LANGUAGE, 8, 18)}`]
  if (body?.kind === 'bytes')
    lines.push(`body = base64.b64decode(${writeText(body.bytes.toString('base64'), LANGUAGE)})`)
  if (body?.kind === 'text') lines.push(`body = ${writeText(body.text, LANGUAGE)}.encode()`)
  if (body?.kind === 'json') lines.push(`body = json.dumps(${writeValue(body.value, LANGUAGE, 8, 26)}).encode()`)
  const call = `send(${writeText(method, LANGUAGE)}, ${url}, headers${body === undefined ? '' : ', body'}`
  if (expected.kind === 'response') return [...lines, `status, text = ${call})`]
  const within = expected.isEndless ? `${body === undefined ? ', None' : ''}, 0.5)` : ')'
  return [...lines, 'with pytest.raises((OSError, http.client.HTTPException)):', `    ${call}${within}`]
}

function expectations(expected: Expectation): string[] {
  if (expected.kind === 'failure') return []
  return [`assert status == ${expected.status}, text`, ...bodyLines(expected.body)]
}

function bodyLines(body: ExpectedBody): string[] {
  switch (body.kind) {
    case 'any':
      return []
    case 'success':
      return ['assert json.loads(text)["success"] is True']
    case 'refusal': {
      const lines = [`assert json.loads(text)["error"]["code"] == ${writeText(body.code, LANGUAGE)}`]
      if (body.field === undefined) return lines
      return [
        ...lines,
        'sent = control("GET", account + "/requests?limit=1")["requests"][-1]',
        `assert sent["problems"][0]["field"] == ${writeText(body.field, LANGUAGE)}`,
      ]
    }
    case 'text':
      return [`assert text.decode() == ${writeText(body.text, LANGUAGE)}`]
    case 'json':
      return [`assert json.loads(text) == ${writeValue(expectedValue(body, ANY), LANGUAGE, 8, 36)}`]
  }
}

const SEND = [
  'def send(method, url, headers, body=None, timeout=10):',
  '    """Returns the status and the body of the answer."""',
  '    place = urllib.parse.urlsplit(url).netloc',
  '    connection = http.client.HTTPConnection(place, timeout=timeout)',
  '    try:',
  '        connection.request(method, url[url.index(place) + len(place):], body, headers)',
  '        response = connection.getresponse()',
  '        return response.status, response.read()',
  '    finally:',
  '        connection.close()',
  '',
  '',
  'def control(method, path, body=None):',
  '    """Asks the control plane, and returns the data of its answer."""',
  '    content = None if body is None else json.dumps(body).encode()',
  '    status, text = send(method, ADMIN + path, {"content-type": "application/json"}, content)',
  '    assert status < 300, text',
  '    return json.loads(text)["data"] if text else None',
]
