import { setTimeout as sleep } from 'node:timers/promises'

const BASE_URL = process.env.UNDERSTUDY_BASE_URL
const KEY = process.env.UNDERSTUDY_API_KEY

/** A response that says why the service does not do it. */
export class Refused extends Error {
  constructor(status, code, message) {
    super(`${status} ${code}: ${message}`)
    this.status = status
    this.code = code
  }
}

/** Sends one request; returns its `data`. Throws `Refused`, or what fetch or the JSON parser throws. */
export async function send(method, path, body, { timeout = 1000, patient = true } = {}) {
  const response = await fetch(BASE_URL + path, {
    method,
    headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    ...(timeout && { signal: AbortSignal.timeout(timeout) }),
  })
  const answer = await response.json()
  if (answer.success === true) return answer.data
  const { code, message } = answer.error
  if (response.status === 429 && patient) await sleepUntilReset(response)
  throw new Refused(response.status, code, message)
}

async function sleepUntilReset(response) {
  const seconds = Number(response.headers.get('x-ratelimit-reset')) - Date.now() / 1000
  await sleep(Math.max(0, seconds) * 1000 + 20)
}

/** Whether a later try may succeed: the service was busy, failed, or was not understood. */
export function isPassing(error) {
  return !(error instanceof Refused) || error.status === 429 || error.status >= 500
}

/** Tries something again, but not at once, while it fails for a reason that passes. */
export async function persist(attempt, { tries = 4, delay = 200 } = {}) {
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
