import type { Circumstances } from '../accounts/exchange-log.ts'
import type { Contract } from '../contract/contract.ts'
import type { NewEntry } from '../journal/journal.ts'
import type { Redact } from '../journal/redaction/redaction.ts'
import { hashOfPresentedKey, violatedCode } from '../journal/verdict.ts'
import { encodeExchange } from './exchange-codec.ts'
import { encodeId } from './keys.ts'
import type { OwnExchange, Wire } from './observer.ts'
import { responseField } from './stored-counts.ts'

/** An account as the store knows it. */
interface StoredOwner {
  id: string
  incarnation: string
}

/** An exchange that this server has answered. */
export interface SentExchange {
  kind: 'exchange'
  /** Absent if it has no account. */
  owner: StoredOwner | undefined
  /** In microseconds, see `StoreClock.reached`. */
  stamp: number
  /** The fields of its record, see `readRecord`: names and values alternate. */
  fields: readonly string[]
  isViolation: boolean
  /** What it adds to the counts. */
  counts: readonly (readonly [name: string, amount: number])[]
  /** The same for those that count only while its account is there: the responses for its coverage. */
  covered: readonly string[]
  own: OwnExchange
  bytes: number
}

/** What is known later about an exchange with an ordinal: what it has covered, that it was impolite, or why it is wrong. */
type LaterFact = { ordinal: number; bytes: number } & (
  | { kind: 'shown'; owner: StoredOwner | undefined; name: string }
  | { kind: 'impolite'; manner: string; request: string }
  | { kind: 'example'; place: number; text: string }
)

/** What a server sends to the store. */
export type OutboxItem = SentExchange | LaterFact

/** Approximate bytes of an exchange that waits to be sent, without its text. */
const EXCHANGE = 300

export interface Composing {
  contract: Contract
  redact: Redact
  wire: Wire | undefined
  stamp: number
  /** Whether no other server compares the request with its own ones. */
  isAlone: boolean
}

/** The exchange as it is sent, without secrets. */
export function composeExchange(
  entry: NewEntry,
  { history, principal, query, body, judged, requestBody }: Circumstances,
  { contract, redact, wire, stamp, isAlone }: Composing,
): SentExchange {
  const { account, status, operation, code, injected, violatesContract, moment } = entry
  const text = encodeExchange(entry, body, contract, redact)
  const isNobodys = account === undefined && principal === undefined
  const presented = violatesContract && isNobodys ? hashOfPresentedKey(entry) : undefined
  const fields = ['e', text]
  if (account !== undefined) fields.push('a', encodeId(account))
  if (wire !== undefined && !isAlone) fields.push('w', JSON.stringify(wire))
  if (violatesContract) fields.push('v', '1')
  if (presented !== undefined) fields.push('p', presented)
  if (moment?.undo !== undefined) fields.push('u', `${moment.sequence + 1} ${moment.undo}`)
  const counts: [name: string, amount: number][] = [['requests', 1]]
  if (judged) counts.push(['judged', 1])
  if (injected) counts.push(['injected', 1])
  if (violatesContract) counts.push(['violations', 1], [`code ${violatedCode(entry)}`, 1])
  const covered = status === undefined ? [] : [responseField(operation?.id, status, code, injected)]
  return {
    ...{ kind: 'exchange', stamp, fields, counts, covered, isViolation: violatesContract },
    owner: account === undefined ? undefined : { id: account, incarnation: `${history?.incarnation ?? 0}` },
    own: { entry, query, body, principal, wire },
    bytes: EXCHANGE + text.length + (requestBody?.held.length ?? 0),
  }
}

/** The arguments of the function `record` after those about the server. What can be added up is added up here. */
export function writeBatch(items: readonly OutboxItem[]): string[] {
  const numbers = new Map<string, number>()
  const parts = { accounts: new Part(), sums: new Part(), covered: new Part() }
  const kinds = { exchange: new Part(), shown: new Part(), impolite: new Part(), example: new Part() }
  const sums = new Map<string, number>()
  const covered = new Map<string, number>()
  for (const item of items) {
    const part = kinds[item.kind]
    if (item.kind === 'exchange') {
      const account = numberOf(item.owner)
      part.add(`${account}`, `${item.stamp}`, item.isViolation ? '1' : '0', `${item.fields.length}`)
      part.append(item.fields)
      for (const [name, amount] of item.counts) sums.set(name, (sums.get(name) ?? 0) + amount)
      for (const name of item.covered) covered.set(`${account}\n${name}`, (covered.get(`${account}\n${name}`) ?? 0) + 1)
    } else if (item.kind === 'shown') part.add(`${numberOf(item.owner)}`, `${item.ordinal}`, item.name)
    else if (item.kind === 'impolite') part.add(item.manner, `${item.ordinal}`, item.request)
    else part.add(`${item.place}`, `${item.ordinal}`, item.text)
  }
  for (const [name, amount] of sums) parts.sums.add(name, `${amount}`)
  for (const [name, amount] of covered) parts.covered.add(...name.split('\n'), `${amount}`)
  return [...Object.values(parts), ...Object.values(kinds)].flatMap((part) => part.write())

  /** The number of an account in the batch, which names each once; 1 for nobody. */
  function numberOf(owner: StoredOwner | undefined): number {
    if (owner === undefined) return 1
    const known = numbers.get(owner.incarnation)
    if (known !== undefined) return known
    parts.accounts.add(owner.incarnation, encodeId(owner.id))
    numbers.set(owner.incarnation, numbers.size + 2)
    return numbers.size + 1
  }
}

/** A list of arguments after the number of its elements. */
class Part {
  readonly #words: string[] = []
  #count = 0

  add(...words: string[]): void {
    this.#count++
    this.append(words)
  }

  /** Adds words to the last element. */
  append(words: readonly string[]): void {
    for (const word of words) this.#words.push(word)
  }

  write(): string[] {
    return [String(this.#count), ...this.#words]
  }
}
