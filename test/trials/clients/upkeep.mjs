// Keeps an account as a list of domains wants it: `node upkeep.mjs [BUG]`. Without BUG, it makes no mistake. upkeep.py and
// upkeep.sh are the same client.
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const BUG = process.argv[2]
const has = (bug) => BUG === bug
const BASE_URL = process.env.UNDERSTUDY_BASE_URL
const KEY = process.env.UNDERSTUDY_API_KEY
const TIMEOUT = Number(process.env.CLIENT_TIMEOUT ?? 2000)
const DELAY = has('storm') ? 0 : 50
const TRIES = has('storm') ? 20 : 4
const PER_REQUEST = has('too-many') ? 1000 : 50
/** The first two form the group, and all mail of the first one should pass. */
const WANTED = (process.env.WANTED ?? 'shop.example.com mail.example.com News.Example.com').split(' ')
const GROUP = 'Retail'
const MEANINGS = { none: 'watched', quarantine: 'protected', reject: 'protected' }

/** A response that says why the service does not do it. */
class Refused extends Error {
  constructor({ statusCode, headers }, { code, message }) {
    super(`${statusCode} ${code}: ${message}`)
    Object.assign(this, { status: statusCode, code, reset: Number(headers['x-ratelimit-reset']) })
  }
}

/** Sends a request once; returns the `data` of the response, and its text. */
async function sendOnce(method, path, body) {
  const response = await new Promise((resolve, reject) => {
    const json = body && JSON.stringify(body)
    // Node.js itself does not say how long the body of a DELETE is.
    const ofBody = json && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }
    const headers = { authorization: `Bearer ${KEY}`, ...ofBody }
    request(BASE_URL + path, { method, headers, signal: AbortSignal.timeout(TIMEOUT) })
      .on('response', resolve)
      .on('error', reject)
      .end(json)
  })
  const written = await text(response)
  const { success, data, error } = JSON.parse(written)
  const isDone = has('only-200') ? response.statusCode === 200 : success
  if (!isDone) throw new Refused(response, error ?? { code: 'odd', message: 'That is no success.' })
  return { data, written }
}

const send = (...args) => (has('blind-retry') ? persist(() => sendOnce(...args)) : sendOnce(...args))

/** Takes a step again while it fails for a reason that passes. Each step looks first at what is there. */
async function persist(step) {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await step()
    } catch (error) {
      const isRefused = error instanceof Refused
      const passes = isRefused ? error.status === 429 || error.status >= 500 : !has('no-retry')
      // A TypeError is a mistake of this program, and not of the connection.
      if (left === 0 || !passes || error instanceof TypeError) throw error
      await sleep(isRefused && error.status === 429 ? untilReset(error) : DELAY)
    }
  }
}

function untilReset({ reset }) {
  if (has('reset-as-seconds')) return reset * 1000
  if (has('fixed-sleep')) return 3000
  return has('storm') ? 0 : Math.max(0, reset * 1000 - Date.now()) + 20
}

const canonical = (name) => name.toLowerCase()

async function monitored() {
  const { data } = await send('GET', '/domains')
  return data.domains.map(canonical)
}

async function removeOthers() {
  const wanted = WANTED.map(canonical)
  const domains = (await monitored()).filter((name) => !wanted.includes(name))
  if (domains.length === 0) return
  try {
    await send('DELETE', '/domains', { domains })
  } catch (error) {
    if (!(has('in-use') && error.code === 'domain_delete_failed')) throw error
  }
}

async function addMissing() {
  const known = await monitored()
  const missing = WANTED.filter((name) => !known.includes(canonical(name)))
  for (let from = 0; from < missing.length; from += PER_REQUEST) {
    const domains = missing.slice(from, from + PER_REQUEST)
    try {
      await send('POST', '/domains', { domains })
    } catch (error) {
      if (!(has('batch') && error.status === 400)) throw error
      console.error(`Left out: ${domains.join(' ')}`)
      for (const name of domains) WANTED.splice(WANTED.indexOf(name), 1)
    }
  }
}

async function formGroup() {
  const { groups } = (await send('GET', '/domaingroups')).data
  if (groups.some(({ name }) => name === GROUP)) return
  await send('POST', '/domaingroups', { name: GROUP, domains: WANTED.slice(0, 2) })
}

async function report() {
  const { data: records, written } = await send('GET', '/dmarc')
  const spelt = has('case') ? (name) => name : canonical
  const byName = new Map(records.map((record) => [spelt(record.domain), record]))
  const isInOrder = records.every(({ domain }, index) => canonical(domain) === canonical(WANTED[index] ?? ''))
  if (has('order') && !isInOrder) throw new Error('the records are those of other domains')
  for (const [index, name] of WANTED.entries()) {
    const { p = 'no record yet', dmarc = 0 } = byName.get(canonical(name)) ?? {}
    const meaning = has('unknown-policy') ? MEANINGS[p].toUpperCase() : (MEANINGS[p] ?? p)
    console.log(`${name}: ${meaning}, ${dmarc} %`)
    const isFull = has('number-as-text') ? written.includes('"dmarc":100.0,') : dmarc === 100
    if (index === 0 && !isFull) throw new Error(`not all mail of ${name} passes`)
  }
}

try {
  for (const step of [removeOthers, addMissing, formGroup, report]) {
    await (has('blind-retry') ? step() : persist(step))
  }
} catch (error) {
  if (error instanceof TypeError) throw error
  console.error(`The account is not as it should be: ${error.message}`)
  const isIgnored = (has('401') && error.status === 401) || (has('403') && error.status === 403)
  if (!isIgnored) process.exitCode = 1
}
