import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const BASE_URL = process.env.UNDERSTUDY_BASE_URL
const KEY = process.env.UNDERSTUDY_API_KEY
/** In milliseconds: how long it waits for a response, and before it tries again. */
const TIMEOUT = Number(process.env.CLIENT_TIMEOUT ?? 1000)
const DELAY = Number(process.env.CLIENT_DELAY ?? 200)

/** A response that says why the service does not do it. */
export class Refused extends Error {
  constructor(status, code, message) {
    super(`${status} ${code}: ${message}`)
    this.status = status
    this.code = code
  }
}

/** Sends one request; returns its `data`. Throws `Refused`, or what the connection or the JSON parser throws. */
export async function send(method, path, body, { timeout = TIMEOUT, patient = true } = {}) {
  const response = await exchange(method, path, body, timeout)
  const answer = await json(response)
  if (answer.success === true) return answer.data
  const { code, message } = answer.error
  if (response.statusCode === 429 && patient) await sleepUntilReset(response)
  throw new Refused(response.statusCode, code, message)
}

/** A process with `fetch` takes twice as long to start, and tests start hundreds of them. */
function exchange(method, path, body, timeout) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) }
    const signal = timeout ? AbortSignal.timeout(timeout) : undefined
    request(BASE_URL + path, { method, headers, signal })
      .on('response', resolve)
      .on('error', reject)
      .end(body && JSON.stringify(body))
  })
}

async function sleepUntilReset(response) {
  const seconds = Number(response.headers['x-ratelimit-reset']) - Date.now() / 1000
  await sleep(Math.max(0, seconds) * 1000 + 20)
}

/** Whether a later try may succeed: the service was busy, failed, or was not understood. */
export function isPassing(error) {
  return !(error instanceof Refused) || error.status === 429 || error.status >= 500
}

/** Tries something again, but not at once, while it fails for a reason that passes. */
export async function persist(attempt, { tries = 4, delay = DELAY } = {}) {
  for (let left = tries - 1; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || !isPassing(error)) throw error
      await sleep(delay)
    }
  }
}

export const DOMAINS = ['shop.example.com', 'mail.example.com']
export const GROUP = 'Retail'

/** Sees to it that the domains are watched and form the group. Each try looks first at what is there. */
export async function watch(options = {}) {
  await persist(() => watchDomains(options), options)
  await persist(() => formGroup(options), options)
}

export async function watchDomains(options) {
  const { domains } = await send('GET', '/domains', undefined, options)
  const missing = DOMAINS.filter((domain) => !domains.includes(domain))
  if (missing.length > 0) await send('POST', '/domains', { domains: missing }, options)
}

export async function formGroup(options) {
  const { groups } = await send('GET', '/domaingroups', undefined, options)
  if (groups.some(({ name }) => name === GROUP)) return
  await send('POST', '/domaingroups', { name: GROUP, domains: DOMAINS }, options)
}
