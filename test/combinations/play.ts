import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Contract, loadContract } from '../../src/contract/contract.ts'
import { LIMITS } from '../../src/domain/limits.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { HOUR } from '../support/account.ts'
import { contractWith } from '../support/alternatives.ts'
import { expectDocumented } from '../support/control-plane.ts'
import type { Received } from '../support/request.ts'
import { API_KEY, START, violationsOf } from '../support/service.ts'
import { type Event, inMemory, type OpenPlace, type Place } from './places.ts'
import { type Asked, control, Known, OTHER_KEY, readings, type Step, stepLists, USES } from './steps.ts'
import { Story } from './story.ts'
import { type Restrict, type World, worlds } from './world.ts'

const USUAL = await loadContract()
/** What no request makes a server forget, and the order of accounts that were created at the same moment. */
const OF_ONE_RUN = /^\/(requests|accounts)(\?|$)|\/coverage$/

// COMBINATIONS_SEED=$RANDOM COMBINATIONS_RUNS=5000 npx vitest run test/combinations
export const SEED = Number(process.env['COMBINATIONS_SEED'] ?? 20_260_115)
/** Does not look for a smaller counterexample, which can take minutes. */
const ENDS_ON_FAILURE = process.env['COMBINATIONS_END'] !== undefined

/** Plays so many drawn combinations at these places, each as `restrict` changes it. */
export async function playAny(
  runs: number,
  open: readonly OpenPlace[],
  restrict: Restrict = (world, steps) => [world, steps],
): Promise<void> {
  let played = 0
  const property = fc.asyncProperty(worlds, stepLists, (world, steps) => {
    const title = `Combination ${++played} of “${expect.getState().currentTestName}”`
    return play(title, ...restrict(world, steps), open)
  })
  await fc.assert(property, { numRuns: runs, seed: SEED, endOnFailure: ENDS_ON_FAILURE, includeErrorInReport: true })
}

/**
 * Does the same steps at several places, the first of which is a server in memory that is never restarted. All give the
 * same bytes, nothing is an internal error, and each answer is lawful. A failure tells the story.
 */
async function play(title: string, world: World, steps: readonly Step[], open: readonly OpenPlace[]): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'understudy-world-'))
  const story = new Story()
  const { overlays, fixture, options } = world
  story.add(`${title}: a server with ${JSON.stringify({ ...options, overlays, fixture })}`)
  const run = new Run(overlays.length === 0 ? USUAL : await contractWith(...overlays), story, options)
  try {
    if (!(await run.start([inMemory, ...open], world, scratch))) return
    for (const step of [...steps, ...LAST_STEPS]) await run.take(step)
  } catch (error) {
    throw new Error(`${story.text}Then: ${error instanceof Error ? error.message : error}`)
  } finally {
    await story.watch('a stop', () => run.stop()).catch(() => {})
    await story.end()
    rmSync(scratch, { recursive: true, force: true })
  }
}

const LAST_STEPS = ['read everything', 'use everything', 'carry', 'restart', 'read everything'] as const

class Run {
  readonly #contract: Contract
  readonly #story: Story
  readonly #known = new Known()
  readonly #places: Place[] = []
  #time = START
  #canFail: boolean
  #carried = 0
  #forgot = false
  /** Ids of requests of nobody, which each server numbers for itself, by place. */
  readonly #ofNobody = new Map<Place, string[]>()

  constructor(contract: Contract, story: Story, { faults = [] }: ServerOptions) {
    this.#contract = contract
    this.#story = story
    this.#canFail = faults.length > 0
  }

  /** Whether the options fit each other; what one place refuses, all refuse. */
  async start(open: readonly OpenPlace[], world: World, scratch: string): Promise<boolean> {
    const options = { apiKey: API_KEY, ...world.options, fixture: world.fixture, clock: () => this.#time }
    const start = { options, contract: this.#contract, scratch }
    const refusals: string[] = []
    for (const openPlace of open) {
      const place = await this.#story.watch('a start', () => openPlace(start)).catch((error: Error) => error)
      if (place instanceof Error) refusals.push(`${place.name}: ${place.message}`)
      else this.#places.push(place)
    }
    if (refusals.length === 0) {
      await this.#all(control('POST', '/accounts', { id: 'other', fixture: 'empty', api_key: OTHER_KEY }))
      for (const list of ['keys', 'groups', 'faults']) await this.#all(control('GET', `/accounts/default/${list}`))
    } else if (this.#places.length > 0 || !/^(Fixture|TooManyKeys|Option)Error/.test(refusals[0] ?? '')) {
      throw new Error(`${this.#places.map(({ name }) => name)} start, others do not: ${refusals.join('; ')}`)
    }
    return refusals.length === 0
  }

  stop = () => Promise.all(this.#places.map((place) => place.stop()))

  async take(step: Step): Promise<void> {
    if (/"operation":"(addFault|importState)/.test(JSON.stringify(step))) this.#canFail = true
    if (step === 'restart' || step === 'loss') return this.#restart(step)
    if (step === 'carry') return this.#carry()
    if (step === 'read everything') {
      this.#story.add('Everything is read.')
      for (const asked of [...readings('default', API_KEY), ...readings('other', OTHER_KEY)]) await this.#all(asked)
    } else if (step === 'use everything') {
      for (const asked of USES) await this.#tell(asked)
    } else if ('hours' in step) {
      this.#story.add(`${step.hours} hours pass.`)
      this.#time += step.hours * HOUR
    } else if ('during' in step) {
      await this.#loseDuring(this.#known.resolve(step.during), step.turns)
    } else {
      await this.#tell(step)
    }
  }

  /** Asks all, as lines of the story. */
  async #tell(request: Asked): Promise<void> {
    const asked = this.#known.resolve(request)
    this.#story.add(describe(asked))
    const { status, body } = await this.#all(asked)
    this.#story.add(`   → ${status} ${body?.error?.code ?? ''}`)
  }

  /** Sends the request to each place, and compares the answers with that of the first. */
  async #all(asked: Asked): Promise<Received> {
    const answers: Received[] = []
    for (const place of this.#places) {
      const answer = await this.#story.watch(`${describe(asked)} in ${place.name}`, () => place.ask(asked))
      this.#check(place, asked, answer)
      answers.push(answer)
    }
    const [first] = answers as [Received]
    this.#known.learn(first, asked)
    if (this.#forgot && OF_ONE_RUN.test(asked.path)) return first
    // Of requests of nobody, each machine tells its own time.
    if (this.#places.some(({ keeps }) => keeps === 'everything') && asked.path === '/requests') return first
    const [expected = '', ...others] = this.#places.map((place, index) => this.#bytesOf(place, answers[index] ?? first))
    for (const [index, bytes] of others.entries()) {
      if (bytes === expected) continue
      const { name } = this.#places[index + 1] as Place
      throw new Error(`${describe(asked)} gives other bytes in ${name}:\n${difference(bytes, expected)}`)
    }
    return first
  }

  #check(place: Place, { method, path, isControl }: Asked, answer: Received): void {
    const { status, text } = answer
    const where = `${method} ${path} in ${place.name}`
    if (place.problems.length > 0) throw new Error(`${where} logs: ${place.problems.join('; ')}`)
    if (!isControl && this.#canFail) return
    if (status === 0 || (status >= 500 && !(isControl && status === 507))) {
      throw new Error(`${where} → ${status} ${text}`)
    }
    if (isControl) expectDocumented(method, path, answer)
    const violations = isControl ? [] : violationsOf(this.#contract, method, path, answer)
    if (violations.length > 0) throw new Error(`${where} violates the contract: ${JSON.stringify(violations)}`)
  }

  /** The answer without what no seed decides: the port, how long it took, and the number of a request of nobody. */
  #bytesOf(place: Place, { status, headers, text }: Received): string {
    const { date: _, 'content-length': __, 'x-ratelimit-reset': reset, ...headersOfAll } = headers
    const others = { ...headersOfAll, ...(status !== 401 && { reset }) }
    const nobodys = this.#ofNobody.get(place) ?? []
    if (status === 401 && headers['x-request-id'] !== undefined) nobodys.push(headers['x-request-id'])
    this.#ofNobody.set(place, nobodys)
    const bytes = `${status} ${JSON.stringify(others)} ${text}`
      .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":0')
      // Each server and each run names the versions of an account in its own way.
      .replaceAll(/"version":"[\w-]+"/g, '"version":""')
      // A journal that began anew counts from 1, and does not know what was read before.
      .replaceAll(this.#forgot ? /"(ordinal|next)":"?\d+"?|("politeness"):.*/g : /^$/g, '"$1$2":0')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    return nobodys.reduce((result, id) => result.replaceAll(id, 'nobody'), bytes)
  }

  async #restart(event: Event): Promise<void> {
    this.#story.add(`The server ${event === 'restart' ? 'stops' : 'is lost'} and starts again.`)
    if (event === 'loss') await this.#store()
    for (const place of this.#places) {
      await this.#story.watch(`a ${event} of ${place.name}`, () => place.restart(event))
    }
    await this.#forget()
  }

  /** What only reads have counted is stored with the next change, or at a stop. */
  async #store(): Promise<void> {
    for (const id of await this.#accounts()) {
      await this.#all(control('PATCH', `/accounts/${id}/clock`, { advance: 'PT1S' }))
    }
  }

  /** A server that is never restarted forgets by request what the others have forgotten. */
  async #forget(): Promise<void> {
    if (this.#places.every(({ keeps }) => keeps !== 'accounts')) return
    this.#forgot = true
    const [first] = this.#places as [Place]
    const each = async (path: string) => {
      for (const place of this.#places) await place.ask(control('DELETE', path))
    }
    for (const id of await this.#accounts()) {
      const { snapshots } = (await first.ask(control('GET', `/accounts/${id}/snapshots`))).body.data
      for (const { name } of snapshots) await each(`/accounts/${id}/snapshots/${name}`)
      await each(`/accounts/${id}/requests`)
    }
    await each('/verdict')
    this.#known.forgetRequests()
  }

  /** The request is done as a whole, or not at all. */
  async #loseDuring(asked: Asked, turns: number): Promise<void> {
    const [first, second, third] = this.#places as [Place, Place, Place | undefined]
    if (third !== undefined) return
    this.#story.add(`The server is lost ${turns} turns after the beginning of ${describe(asked)}.`)
    await this.#store()
    const before = await this.#fingerprint(first)
    const asking = second.ask(asked)
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    await this.#story.watch('a loss', () => second.restart('loss'))
    await asking
    await this.#forget()
    const after = await this.#fingerprint(second)
    if (after === before) return
    await first.ask(asked)
    const done = await this.#fingerprint(first)
    if (after !== done) throw new Error(`It was done in part:\n${difference(after, done)}`)
  }

  /** What is kept of all accounts. */
  async #fingerprint(place: Place): Promise<string> {
    const texts: string[] = []
    for (const id of (await this.#accounts(place)).toSorted()) {
      for (const part of ['', '/state', '/keys', '/quotas', '/faults', '/scenes']) {
        texts.push((await place.ask(control('GET', `/accounts/${id}${part}`))).text)
      }
    }
    return texts.join('\n')
  }

  /** What is exported is the same account elsewhere: imported into another account, and as the fixture of a new one. */
  async #carry(): Promise<void> {
    const id = `carried-${++this.#carried}`
    this.#story.add(`default is exported, imported into ${id}, and exported there.`)
    const fixture = (await this.#all(control('GET', '/accounts/default/state'))).body.data
    const created = await this.#all(control('POST', '/accounts', { id, fixture: 'empty' }))
    if (created.status === 507) return
    // The seed and the plan of the server have precedence over those of a fixture.
    const { seed, clock } = fixture
    const canBegin = Date.parse(clock.now) <= LIMITS.lastSetting
    const ways = [
      control('PUT', `/accounts/${id}/state`, fixture),
      control('POST', `/accounts/${id}/reset`, { fixture, seed, ...clock }),
      control('PATCH', `/accounts/${id}`, { plan: fixture.plan }),
    ]
    for (const asked of canBegin ? ways : ways.slice(0, 1)) {
      const { status, text } = await this.#all(asked)
      if (status !== 200) throw new Error(`${asked.method} ${asked.path} of what was exported → ${status} ${text}`)
      if (asked.method === 'POST') continue
      const again = (await this.#all(control('GET', `/accounts/${id}/state`))).body.data
      if (isDeepStrictEqual(essence(again), essence(fixture))) continue
      const [one = '', other = ''] = [again, fixture].map((each) => JSON.stringify(essence(each)))
      throw new Error(`After ${asked.method} ${asked.path}, it exports other things:\n${difference(one, other)}`)
    }
    await this.#all(control('DELETE', `/accounts/${id}`))
  }

  async #accounts(place = this.#places[0] as Place): Promise<string[]> {
    const { accounts } = (await place.ask(control('GET', '/accounts'))).body.data
    return accounts.map(({ id }: { id: string }) => id)
  }
}

/** Without the words about where it comes from, and without keys, which an account has of its own. */
function essence({ description: _, keys: __, ...fixture }: Record<string, unknown>): unknown {
  return fixture
}

function describe({ method, path, body, key, isControl }: Asked): string {
  const caller = isControl || key === undefined ? '' : ` (key ${key.slice(0, 12)})`
  return `${method} ${isControl ? '/__admin' : ''}${path}${caller} ${body === undefined ? '' : JSON.stringify(body)}`
}

/** The surroundings of the first character that differs. */
function difference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return [one, other].map((text) => `  … ${text.slice(Math.max(0, at - 200), at + 300)}`).join('\n')
}
