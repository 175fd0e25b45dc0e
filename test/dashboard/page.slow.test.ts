import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startService, type TestService } from '../support/service.ts'

/** The greatest size of the page in bytes, compressed, because people wait for it. */
const HEAVIEST = 150_000
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

describe('the page of the dashboard', () => {
  it('lets the browser run and load only what the page contains, and does not contain the token', async () => {
    const { response, text } = await readPage(await startService({ adminToken: 'open-sesame' }))
    expect(text).toMatch(/^<!doctype html>/)
    expect(text).not.toContain('open-sesame')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
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

  it('reaches nothing but the control plane and the API of the service', async () => {
    const script = contentOf(await ownPage(), SCRIPT)
    // One sends the operations of the control plane, the other requests to the API of the service.
    expect(script.match(/\bfetch\(/g)).toHaveLength(2)
    expect(script).not.toMatch(/EventSource\(|XMLHttpRequest|WebSocket|sendBeacon|import\(/)
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
})
