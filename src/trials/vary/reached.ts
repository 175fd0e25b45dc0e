import { recreateAccount } from '../../accounts/creation.ts'
import { answersUnder, answerUnder, type OtherChoice, type ServiceAnswer } from '../../behaviour/counterfactual.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import { operationOf } from '../../contract/api.ts'
import { type Alternative, type Choices, settingOf } from '../../contract/choices.ts'
import type { Contract } from '../../contract/contract.ts'
import { Replier } from '../../contract/reply.ts'
import type { AccountState } from '../../domain/account.ts'
import type { Problems } from '../../domain/errors.ts'
import { compareAccounts } from '../../explain/changes.ts'
import { askedAgain } from '../../explain/decisive-settings.ts'
import { type Content, textOf } from '../../ground/message.ts'
import { type Entry, PAST, textOf as recordedText } from '../../journal/entry.ts'
import { wordMisfit } from '../runner.ts'
import type { TrialResult } from '../trial.ts'

/** The alternatives that a run could have noticed. */
export interface Reached {
  reached: readonly Alternative[]
  /** Alternatives that cannot be tried, or for which there was no time, with the reason. */
  undecided: readonly { alternative: Alternative; reason: string }[]
  /** How many requests could not be answered again as recorded. Any alternative might have changed them. */
  unanswerable: number
}

interface ReachOptions {
  choices: Choices
  bind(contract: Contract): ServiceContract
  runs: readonly Pick<TrialResult, 'exchanges' | 'lost' | 'accounts'>[]
  onProgress?(done: number, all: number): void
  /** The reason why no further request is looked at; `undefined` as long as there is none. */
  whyOver?(): string | undefined
}

interface Candidate extends OtherChoice {
  alternative: Alternative
  beginnings: Beginnings
}

/** What accounts of the runs begin with, by id, where that is something else under a contract. */
type Beginnings = ReadonlyMap<string, { usual: string; other: AccountState }>

/**
 * Finds the alternatives that a run has reached. Each request is answered again from its recorded state, under our
 * contract and under each alternative. If no byte of a body, no status and no change of the account differs, the whole
 * run would have been the same. What is counted, and what only header fields show, is no part of such an answer: `BEYOND`
 * says which requests show it.
 */
export async function findReached({ choices, bind, runs, onProgress, whyOver }: ReachOptions): Promise<Reached> {
  const entries = runs.flatMap(({ exchanges }) => exchanges)
  const own = bind(choices.contract)
  const reached = new Set<Alternative>()
  const undecided: { alternative: Alternative; reason: string }[] = []
  let open: Candidate[] = []
  for (const alternative of choices.alternatives) {
    try {
      const contract = await choices.compile([alternative])
      const beginnings = await beginningsUnder(contract, own, runs)
      if (isBeyond(alternative, entries)) {
        reached.add(alternative)
        continue
      }
      // A setting that is compiled into the contract makes another document.
      const setting = contract.document === choices.contract.document ? settingOf(alternative) : undefined
      open.push({ alternative, contract: bind(contract), setting, beginnings })
    } catch (error) {
      undecided.push({ alternative, reason: wordMisfit(error) })
    }
  }
  let unanswerable = 0
  const anyAccount = [...(runs[0]?.accounts.values() ?? [])][0]
  for (const [index, entry] of entries.entries()) {
    const reason = whyOver?.()
    if (reason !== undefined) {
      undecided.push(...open.map(({ alternative }) => ({ alternative, reason })))
      open = []
      break
    }
    onProgress?.(index, entries.length)
    if (isUntouched(entry)) continue
    const state = entry[PAST]?.account ?? anyAccount
    const found = state && differing(entry, state, own, open)
    if (found === undefined) unanswerable++
    for (const { alternative } of found ?? []) reached.add(alternative)
    open = open.filter(({ alternative }) => !reached.has(alternative))
  }
  // Without a complete recording, every alternative may have changed the run.
  const isUncertain = unanswerable > 0 || runs.some(({ lost }) => lost > 0)
  for (const { alternative } of isUncertain ? open : []) reached.add(alternative)
  return { reached: choices.alternatives.filter((each) => reached.has(each)), undecided, unanswerable }
}

type Shows = (entry: Entry) => boolean

const isCharged: Shows = ({ allowance }) => allowance !== undefined
const isLimited: Shows = ({ code }) => code === 'rate_limited'
const isRefused: Shows = ({ code }) => code !== undefined

/** By the place of an assumption: the requests that show a choice about what is counted, or about a header field. */
const BEYOND: Readonly<Record<string, Shows>> = {
  '/x-settings/quota-window': isCharged,
  '/x-settings/rate-limit-reset': isCharged,
  '/x-settings/quota-scope': ({ keyEvidence }) => keyEvidence.ordinal > 1,
  '/x-settings/charged-requests': (entry) => isCharged(entry) && isRefused(entry),
  '/x-settings/quota-headers': (entry) => isRefused(entry) || !isCharged(entry),
  '/x-settings/grace': ({ keyEvidence }) => keyEvidence.inGrace,
  '/x-settings/grace-period': ({ keyEvidence }) => keyEvidence.inGrace,
  '/x-errors/rate_limited': isLimited,
  '/components/responses/RateLimited': isLimited,
}

function isBeyond({ assumption: { place } }: Alternative, entries: readonly Entry[]): boolean {
  if (/^\/components\/headers\/|\/x-quota\b/.test(place)) return true
  return Object.hasOwn(BEYOND, place) && entries.some(BEYOND[place] ?? isCharged)
}

/** Whether no alternative but those in `BEYOND` touches the answer: it is one of the quota, or allows a page to ask. */
function isUntouched(entry: Entry): boolean {
  return isLimited(entry) || (entry.method === 'OPTIONS' && entry.status === 204)
}

/** @throws FixtureError if an account of the runs does not fit the contract */
async function beginningsUnder(contract: Contract, own: Contract, runs: ReachOptions['runs']): Promise<Beginnings> {
  const accounts = runs.flatMap((run) => [
    ...run.accounts.values(),
    ...run.exchanges.flatMap((entry) => entry[PAST]?.account ?? []),
  ])
  const beginnings = new Map<string, { usual: string; other: AccountState }>()
  /** The fixtures that give the same account. */
  const same = new Set<unknown>()
  for (const account of new Map(accounts.map((each) => [each.id, each])).values()) {
    const begin = (under: Contract) => recreateAccount(account, { real: account.createdAt }, under)
    if (same.has(account.origin.fixture)) continue
    const [usual, other] = [contentsOf(await begin(own)), await begin(contract)]
    if (contentsOf(other) === usual) same.add(account.origin.fixture)
    else beginnings.set(account.id, { usual, other })
  }
  return beginnings
}

function contentsOf({ plan, domains, groups }: AccountState): string {
  return JSON.stringify([plan, [...domains.values()], [...groups.values()]])
}

/** The choices under which the answer to a request differs; `undefined` if ours is not the recorded one. */
function differing(
  entry: Entry,
  state: AccountState,
  own: ServiceContract,
  open: readonly Candidate[],
): Candidate[] | undefined {
  const asked = askedAgain(entry, state)
  const found: Candidate[] = []
  let usual = ''
  const alike = open.filter(({ beginnings }) => !beginnings.has(state.id))
  for (const { other, answer } of answersUnder(asked, own, alike)) {
    const written = writeAnswer(entry, state, answer, other?.contract ?? own)
    if (other === undefined) {
      if (!isRecorded(entry, answer, own)) return undefined
      usual = written
    } else if (written !== usual) found.push(other)
  }
  const isOther = ({ beginnings, contract }: Candidate) => {
    const beginning = beginnings.get(state.id)
    if (beginning === undefined) return false
    // Of an account that has changed, it is not known what it would have become.
    if (contentsOf(state) !== beginning.usual) return true
    const { domains, groups, groupNames, plan } = beginning.other
    const other = { ...state, domains, groups, groupNames, plan }
    return writeAnswer(entry, other, answerUnder({ ...asked, state: other }, contract), contract) !== usual
  }
  return [...found, ...open.filter(isOther)]
}

function writeAnswer(entry: Entry, before: AccountState, answer: ServiceAnswer, contract: ServiceContract): string {
  const { headers, body } = replyTo(entry, answer, contract)
  const { domains, groups } = compareAccounts(before, answer.state)
  // Another contract may keep an equal account in other objects.
  const changes = [...domains, ...groups].filter(([, one, other]) => JSON.stringify(one) !== JSON.stringify(other))
  return JSON.stringify([answer.status, headers, textOf(body), changes])
}

/** Our answer to a request that came without its quota, as far as it is a decision. */
export function replyTo(
  { operation: id }: Pick<Entry, 'operation'>,
  { code, problems, data }: ServiceAnswer,
  contract: ServiceContract,
): { headers: Readonly<Record<string, string>>; body: Content } {
  const operation = operationOf(contract, id)
  const replier = new Replier(contract, 'off')
  if (code !== undefined) return replier.refuse(operation, problems as Problems<string>)
  if (operation !== undefined) return replier.succeed(operation, data)
  // Only another choice accepts a request that had no operation, so the status tells the difference.
  return { headers: {}, body: { held: JSON.stringify(data), size: 0 } }
}

/** Whether the service answered so, before a fault changed the answer. */
function isRecorded(entry: Entry, answer: ServiceAnswer, contract: ServiceContract): boolean {
  const { decided = entry, responseBody, method } = entry
  if (decided.status !== answer.status || decided.code !== answer.code) return false
  if (entry.decided !== undefined || method === 'HEAD' || responseBody === undefined || responseBody.isCut) return true
  return entry.injected || recordedText(responseBody) === textOf(replyTo(entry, answer, contract).body)
}
