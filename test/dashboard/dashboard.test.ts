import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'
import { CALLS } from '../../src/dashboard/calls.ts'
import { startService, type TestService } from '../support/service.ts'

/** The greatest size of the page in bytes, compressed, because people wait for it. */
const HEAVIEST = 150_000
const SOURCES = new URL('../../src/dashboard/', import.meta.url)
/** What makes markup or code of text, or keeps something beyond the tab. */
const DANGERS =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|\beval\b|\bFunction\(|srcdoc|javascript:|localStorage|\.cookie/

async function readPage(service: TestService): Promise<{ response: Response; text: string }> {
  const response = await fetch(new URL('/__admin/', service.baseUrl))
  return { response, text: await response.text() }
}

async function ownPage(): Promise<string> {
  return (await readPage(await startService())).text
}

/** The text of the only element with this opening tag. */
function contentOf(page: string, tag: RegExp): string {
  const found = [...page.matchAll(new RegExp(`${tag.source}([\\s\\S]*?)</(?:script|style)>`, 'g'))]
  expect(found).toHaveLength(1)
  return found[0]?.[1] ?? ''
}

const SCRIPT = /<script type="module">/
const STYLE = /<style>/
const FACTS = /<script type="application\/json" id="facts">/

describe('the dashboard', () => {
  it.each(['/__admin/', '/__admin'])('is served as a page at %s', async (path) => {
    const { baseUrl } = await startService()
    const response = await fetch(new URL(path, baseUrl))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await response.text()).toMatch(/^<!doctype html>/)
  })

  it('lets the browser run and load only what the page contains', async () => {
    const { response, text } = await readPage(await startService())
    const hash = (content: string) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`
    const policy = Object.fromEntries(
      (response.headers.get('content-security-policy') ?? '')
        .split('; ')
        .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    )
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': hash(contentOf(text, SCRIPT)),
      'style-src': hash(contentOf(text, STYLE)),
      'connect-src': "'self'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    })
  })

  it('is served without the token, which it asks for itself; nothing else is', async () => {
    const service = await startService({ adminToken: 'open-sesame' })
    const { response, text } = await readPage(service)
    expect(response.status).toBe(200)
    expect(text).not.toContain('open-sesame')
    for (const path of ['accounts', 'events', 'openapi.json', '/', 'x/..%2f']) {
      const barred = await fetch(new URL(`/__admin/${path}`, service.baseUrl))
      await barred.body?.cancel()
      expect([path, barred.status]).toEqual([path, 401])
    }
  })

  it('is not served under another host name when no token protects it', async () => {
    const answer = await (await startService()).sendRaw(
      'GET /__admin/ HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1.1 403 /)
    expect(answer).not.toContain('<html')
  })

  it('is small and complete: it names no other host and no file', async () => {
    const page = await ownPage()
    expect(gzipSync(page).length).toBeLessThan(HEAVIEST)
    // These are names of markup, which no browser asks for.
    const text = page.replaceAll(/\bhttp:\/\/www\.w3\.org\/[\w/]+/g, '')
    expect(text).not.toMatch(/\b(?:https?|wss?):|["'(]\/\/\w/i)
    expect(page).not.toMatch(/<(?:script|img|iframe|source|object|embed)\b[^>]*\bsrc\b/i)
    expect(page).not.toMatch(/@import|\burl\(/)
    expect([...page.matchAll(/<link\b[^>]*>/g)].map(([link]) => link)).toEqual(['<link rel="icon" href="data:,">'])
  })

  it('never treats text as markup or as code', async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter((path) => /\.(?:tsx?|html|css)$/.test(path))
    expect(files.length).toBeGreaterThan(30)
    for (const path of files) {
      const text = await readFile(new URL(path, SOURCES), 'utf8')
      expect.soft([path, DANGERS.exec(text)?.[0], /dangerously/.test(text)]).toEqual([path, undefined, false])
    }
    // Preact knows a property for it, which no source of the page uses, and which the policy forbids.
    const page = await ownPage()
    expect(page.replaceAll(/\b(?:innerHTML|dangerouslySetInnerHTML)\b/g, '')).not.toMatch(DANGERS)
    // The policy would not let these have an effect either.
    expect(page).not.toMatch(/<[^>]*\s(?:on\w+|style)=/)
  })

  it('calls only what the document of the control plane contains', async () => {
    const { operations } = await loadControlApi()
    const documented = operations.map(({ id, method, path }) => [id, [method, path]])
    for (const call of Object.entries(CALLS)) expect(documented).toContainEqual(call)
  })

  it('reaches the control plane only through its table of calls, and uses all of them', async () => {
    const script = contentOf(await ownPage(), SCRIPT)
    // One sends what the table has to the control plane, the other requests to the service's API.
    expect(script.match(/\bfetch\(/g)).toHaveLength(2)
    expect(script).not.toMatch(/EventSource\(|XMLHttpRequest|WebSocket|sendBeacon|import\(/)
    expect(Object.keys(CALLS).filter((id) => !script.includes(`"${id}"`))).toEqual([])
  })

  it('contains the licences of the packages that are in it', async () => {
    const page = await ownPage()
    for (const name of ['preact', '@preact/signals']) {
      const { license } = JSON.parse(
        await readFile(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8'),
      )
      const text = await readFile(new URL(`../../node_modules/${name}/LICENSE`, import.meta.url), 'utf8')
      expect(license).toBe('MIT')
      expect(page).toContain(text.trim())
    }
  })

  it('knows the service by its contract', async () => {
    const service = await startService()
    const { contract } = service
    const facts = JSON.parse(contentOf((await readPage(service)).text, FACTS))
    expect(facts).toMatchObject({
      basePath: contract.basePath,
      plans: contract.settings.plans.order,
      operations: contract.operations.map(({ id, method, path }) => ({ id, method, path })),
    })
    expect(facts.offers, 'everything is offered').toBeNull()
    for (const list of ['fixtures', 'profiles', 'policies']) {
      expect(facts[list].length).toBeGreaterThan(2)
    }
  })
})
