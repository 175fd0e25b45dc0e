import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Contract } from '../../src/contract/contract.ts'
import type { CoverageReport } from '../../src/coverage/report.ts'
import type { ServiceRequest, ServiceResponse } from '../independent-service/service.ts'
import { expectDocumented } from '../support/control-plane.ts'
import type { Received } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { type Held, stateIn } from './account.ts'
import type { Asked, Event, Place } from './places.ts'
import type { IdChoice, PlannedRequest } from './requests.ts'
import type { Expected, World } from './world.ts'

/** An answer of the control plane. */
export interface Answer {
  status: number
  /** Of a refusal. */
  code: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the data whose shape the document has just validated
  data: any
}

/** What a server forgets when it ends, and the order of accounts, which is another one after a start. */
const OF_ONE_SERVER = /^\/(accounts$|requests|verdict)|\/(requests|coverage)(\?|\/|$)/
const QUOTA = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** The stand-in at one or several places, each of which is asked the same, and the model that they are held to. */
export class Run {
  readonly world: World
  readonly contract: Contract
  /** The answers that there were, such as `addDomains 400 invalid_domain`. */
  readonly reached: Set<string>
  readonly #places: readonly Place[]

  constructor(world: World, contract: Contract, places: readonly Place[], reached: Set<string>) {
    this.world = world
    this.reached = reached
    this.contract = contract
    this.#places = places
  }

  get canRestart(): boolean {
    return this.#places.length > 1
  }

  /** Asks the service and holds the answer to the model. */
  async send(plan: PlannedRequest): Promise<ServiceResponse> {
    const { asked, expected } = this.#prepare(plan)
    const received = await this.#ask(asked, expected)
    this.#hold(asked, received, expected)
    await this.learnGroups(expected.held)
    return expected.response
  }

  /** Whichever the service takes first of several at once, it must answer what it answers to as many in a row. */
  async sendTogether(plan: PlannedRequest, copies: number): Promise<void> {
    if (this.world.holderOf(this.#settleKey(plan.authorization))?.isUnderFaults(this.world.now)) return
    const prepared = Array.from({ length: copies }, () => this.#prepare(plan))
    const holder = prepared[0]?.expected.held
    for (const place of this.#places) {
      const answers = await Promise.all(prepared.map(({ asked }) => place.ask(asked)))
      for (const answer of answers) expectLawful(this.contract, plan.method, plan.path, answer)
      // With several servers, the quota and the rest of an answer may follow different orders.
      const sort = (outlines: string[]) =>
        (place.isShared ? outlines.flatMap((outline) => outline.split(BEFORE_QUOTA)) : outlines).toSorted()
      const wanted = prepared.map(({ expected }) => outlineOf(expected.response))
      expect(sort(answers.map(outlineIn)), `at once in ${place.name}`).toEqual(sort(wanted))
      for (const answer of answers) holder?.requestIds.add(answer.headers['x-request-id'] ?? '')
    }
    await this.learnGroups(holder)
    for (const { expected } of prepared) this.#record(expected, undefined)
  }

  #settleKey(authorization: string | undefined): string | undefined {
    const { secrets } = this.world
    return authorization?.replace(/<(\d)>/, (_, index) => secrets.at(-1 - Number(index)) ?? 'none')
  }

  #prepare(plan: PlannedRequest): { asked: Asked; expected: Expected } {
    const { asked, request } = this.#settle(plan)
    const expected = this.world.ask(request)
    return { asked: { ...asked, isLost: expected.response.status === 0 }, expected }
  }

  /** The request with what is open in the plan, as it is sent and as the model sees it. */
  #settle({ method, path, query, body, ...plan }: PlannedRequest): { asked: Asked; request: ServiceRequest } {
    const authorization = this.#settleKey(plan.authorization)
    const holder = this.world.holderOf(authorization)
    const parameters = query.map((each): [string, string] =>
      'of' in each ? ['id', this.#findId(each.of, each.index, holder)] : [each.name, each.value],
    )
    const target = parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`
    const { contentType, content = Buffer.alloc(0) } = body
    const fields = { ...(authorization && { authorization }), ...(contentType && { 'content-type': contentType }) }
    const headers = { authorization: authorization ?? null, 'content-type': contentType ?? null }
    return {
      asked: { method, target, body: body.content, headers, isControl: false },
      request: { method, target: `/api/v1${target}`, headers: fields, body: content },
    }
  }

  #findId(choice: IdChoice, index: number, held: Held | undefined): string {
    const pick = (ids: readonly string[]) => ids[index % ids.length] ?? 'zzzzzzzz'
    const present = held?.account.groups.map(({ id }) => id) ?? []
    const others = [...this.world.accounts.values()].filter((other) => other !== held)
    const swapped = (id: string) =>
      id.replace(/[a-z]/gi, (letter) => (letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()))
    const former = [...(held?.groupIds ?? [])].filter((id) => !present.includes(id))
    const foreign = others.flatMap(({ account }) => account.groups.map(({ id }) => id))
    const found = {
      group: present,
      'former group': former,
      'group in other case': present.map(swapped),
      'group of another account': foreign.filter((id) => !present.includes(id)),
    }
    return pick(found[choice])
  }

  /** Asks each place, and returns the answer of the first, which the others have given to the byte. */
  async #ask(asked: Asked, expected?: Expected): Promise<Received> {
    const [method, target] = [asked.method, asked.target]
    const answers: Received[] = []
    for (const place of this.#places) {
      const answer = await place.ask(asked)
      if (asked.isControl) expectDocumented(method, target, answer)
      else if (!asked.isLost) expectLawful(this.contract, method, target, answer)
      answers.push(answer)
    }
    const [first, ...others] = answers as [Received, ...Received[]]
    if (asked.isControl && OF_ONE_SERVER.test(target)) return first
    // A request of nobody is numbered by each server for itself.
    const isOfAccount = asked.isControl || expected?.isAccepted === true
    for (const [index, other] of others.entries()) {
      expect(bytesOf(other, isOfAccount), `${method} ${target} in ${this.#places[index + 1]?.name}`).toBe(
        bytesOf(first, isOfAccount),
      )
    }
    return first
  }

  #hold({ method, target }: Asked, received: Received, expected: Expected): void {
    const where = `${method} ${target}`
    const { response, held } = expected
    expect(outlineIn(received), where).toBe(outlineOf(response))
    this.#record(expected, received)
    if (method === 'HEAD') expect(received.text, where).toBe('')
    if (method === 'HEAD' || response.status === 0) return
    const { success, data } = JSON.parse(Buffer.from(response.body).toString())
    if (!success || expected.isInjected) return
    if (target === '/dmarc') {
      this.#holdRecords(received, data)
      return
    }
    if (method === 'POST' && target === '/domaingroups') this.#nameGroup(held, received.body.data.group.id, data.group)
    const { message: _, ...shown } = received.body.data
    const { message: __, ...wanted } = data
    expect(shown, where).toEqual(wanted)
  }

  /** The group that was just created gets the id that the service chose, which must be a new one. */
  #nameGroup(held: Held | undefined, id: string, shown?: { id: string }): void {
    const group = held?.account.groups.find((each) => each.id === shown?.id)
    expect(id).toMatch(/^[0-9A-Za-z]{8}$/)
    const present = [...this.world.accounts.values()].flatMap(({ account }) => account.groups.map((each) => each.id))
    const others = present.filter((each) => !this.world.copiedIds.has(each))
    const own = [...(held?.account.groups.map((each) => each.id) ?? []), ...(held?.groupIds ?? [])]
    expect([...others, ...own], 'ids of other groups').not.toContain(id)
    held?.groupIds.add(id)
    if (group !== undefined) group.id = id
    if (shown !== undefined) shown.id = id
  }

  /** What figures a record has is the service's to choose; but a message passes DMARC when DKIM or SPF is aligned. */
  #holdRecords({ body, text }: Received, expected: readonly { domain: string }[]): void {
    const names = body.data.map(({ domain }: { domain: string }) => domain)
    expect(names).toEqual(expected.map(({ domain }) => domain))
    for (const { domain, dmarc, dkim, spf, count } of body.data) {
      const isWithin = Math.max(dkim, spf) <= dmarc && dmarc <= Math.min(100, dkim + spf + 1e-9)
      expect(isWithin && (count > 0 || dmarc === 0), `${domain}: ${dmarc} ${dkim} ${spf} ${count}`).toBe(true)
    }
    expect(text.match(/"(?:dmarc|dkim|spf)":\d+\.\d[,}]/g) ?? []).toHaveLength(3 * names.length)
  }

  /** Notes what journal, coverage and request ids must know of it. */
  #record(expected: Expected, received: Received | undefined): void {
    const { held, before, isAccepted, isInjected, operation, response, code = '' } = expected
    if (operation !== undefined && !isInjected) {
      const name = `${operation} ${response.status} ${code}`.trim()
      this.reached.add(name)
      if (isAccepted) held?.shown?.set(name, (held.shown.get(name) ?? 0) + 1)
    }
    if (held === undefined) return
    // A key that is disabled or in no good form tells whose request it is, but it is numbered among those of nobody.
    const id = isAccepted ? received?.headers['x-request-id'] : undefined
    held.entries.push({ id: id ?? '', before: id === undefined ? undefined : before })
    if (id === undefined) return
    expect(held.requestIds.has(id), `The request id ${id} was used before`).toBe(false)
    held.requestIds.add(id)
  }

  /** Asks the control plane. */
  async control(method: string, target: string, body?: unknown): Promise<Answer> {
    const { status, body: content } = await this.#ask({ method, target, body, isControl: true })
    return { status, code: content?.error?.code, data: content?.data }
  }

  /** Asks for the ids of groups that were created without an answer that tells them. */
  async learnGroups(held: Held | undefined): Promise<void> {
    if (held === undefined || held.account.groups.every(({ id }) => held.groupIds.has(id))) return
    const { data } = await this.control('GET', `/accounts/${held.id}/groups`)
    expect(data.groups.map(({ name }: { name: string }) => name)).toEqual(held.account.groups.map(({ name }) => name))
    for (const [index, group] of held.account.groups.entries()) {
      group.id = data.groups[index].id
      held.groupIds.add(group.id)
    }
  }

  /** Reads what an account holds, and with `all` also what is known about it, and holds that to the model. */
  async look(held: Held, all = true): Promise<void> {
    const read = async (part: string) => (await this.control('GET', `/accounts/${held.id}${part}`)).data
    const known = held.describe(this.world.now)
    const { fixture: _, ...account } = (await read('')).account
    expect(account).toEqual(known.account)
    expect(stateIn(await read('/state'))).toEqual(known.state)
    expect((await read('/quotas')).quotas).toEqual(known.quotas)
    if (!all) return
    expect((await read('/keys')).keys).toEqual(known.keys)
    expect((await read('/faults')).faults).toEqual(known.faults)
    expect((await read('/snapshots')).snapshots).toEqual(known.snapshots)
    expect((await read('/requests?limit=1')).count, 'the journal').toBe(held.entries.length)
    if (held.shown !== undefined)
      expect(shownIn(await read('/coverage')), 'the coverage').toEqual([...held.shown].sort())
  }

  /** What the stand-in knows of all accounts together. */
  async lookAround(): Promise<void> {
    const { accounts } = (await this.control('GET', '/accounts')).data
    const ids = accounts.map(({ id }: { id: string }) => id)
    expect(ids.toSorted()).toEqual([...this.world.accounts.keys()].toSorted())
    const { requests, injected, violations } = (await this.control('GET', '/verdict')).data
    expect({ requests, injected, violations: violations.count }, 'the verdict').toEqual(this.world.verdict)
  }

  /** Ends the servers and starts them again. */
  async restart(event: Event): Promise<void> {
    if (event === 'loss') await this.#store()
    for (const place of this.#places) await place.restart(event)
    await this.#forgetAll()
  }

  /** The only other place is lost while it has a request, so many turns later. It was done as a whole, or not at all. */
  async loseDuring(plan: PlannedRequest, turns: number): Promise<void> {
    const [first, second, third] = this.#places
    if (first === undefined || second?.forgets !== true || third !== undefined) return
    if (this.world.holderOf(this.#settleKey(plan.authorization)) === undefined) return
    await this.#store()
    const { asked, request } = this.#settle(plan)
    const before = await this.#pictureOf(second)
    const asking = second.ask({ ...asked, isLost: true })
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    await second.restart('loss')
    await asking
    const after = await this.#pictureOf(second)
    if (after !== before) {
      const expected = this.world.ask(request)
      await first.ask({ ...asked, isLost: expected.response.status === 0 })
      expect(after, 'what was done in part').toBe(await this.#pictureOf(first))
      await this.learnGroups(expected.held)
    }
    await this.#forgetAll()
  }

  /** All that a place keeps of the accounts. */
  async #pictureOf(place: Place): Promise<string> {
    const texts: string[] = []
    for (const id of this.world.accounts.keys()) {
      for (const part of ['/state', '/keys', '/quotas', '/faults']) {
        texts.push((await place.ask({ method: 'GET', target: `/accounts/${id}${part}`, isControl: true })).text)
      }
    }
    return texts.join('\n')
  }

  /** What one of the places forgets, all forget. */
  async #forgetAll(): Promise<void> {
    if (!this.#places.some(({ forgets }) => forgets)) return
    for (const { id, snapshots } of this.world.accounts.values()) {
      for (const name of snapshots.keys()) await this.#forget(`/accounts/${id}/snapshots/${name}`)
      await this.#forget(`/accounts/${id}/requests`)
    }
    await this.#forget('/verdict')
    this.world.forget()
  }

  async #forget(target: string): Promise<void> {
    for (const place of this.#places) await place.ask({ method: 'DELETE', target, isControl: true })
  }

  /** What only reads have counted is stored with the next change. */
  async #store(): Promise<void> {
    for (const held of this.world.accounts.values()) {
      await this.control('PATCH', `/accounts/${held.id}/clock`, { advance: 'PT0S' })
    }
  }
}

/** The answers of the service's own that a coverage has, but for those to keys that were not accepted. */
function shownIn({ operations }: { operations: CoverageReport['operations'] }): [string, number][] {
  const all = operations.flatMap(({ operation, responses }) =>
    responses.map(({ status, code = '', genuine }): [string, number] => [
      `${operation} ${status} ${code}`.trim(),
      genuine,
    ]),
  )
  return all.filter(([name, genuine]) => genuine > 0 && !name.includes(' 401 ')).sort()
}

const BEFORE_QUOTA = ': '

/** Status, code and quota of an answer. */
function outlineIn({ status, body, headers }: Received): string {
  const quota = QUOTA.map((name) => headers[name] ?? '-').join(' ')
  return `${status} ${body?.error?.code ?? ''}${BEFORE_QUOTA}${quota}`
}

function outlineOf({ status, headers, body }: ServiceResponse): string {
  const fields = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const code = body.length === 0 ? '' : (JSON.parse(Buffer.from(body).toString()).error?.code ?? '')
  return `${status} ${code}${BEFORE_QUOTA}${QUOTA.map((name) => fields.get(name) ?? '-').join(' ')}`
}

/** The answer without what no seed decides. */
function bytesOf({ status, headers, text }: Received, isOfAccount: boolean): string {
  const { date: _, 'content-length': __, 'x-request-id': id, ...others } = headers
  const body = text.replaceAll(/"version":"[\w-]+"/g, '"version":""').replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
  return `${status} ${isOfAccount ? id : ''} ${JSON.stringify(others)} ${body}`
}
