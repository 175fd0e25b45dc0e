import type { Credentials } from '../exchanges/exchange.ts'
import { Belief } from './belief.ts'
import { ChargeTrack, SchemeTrack } from './choice-tracks.ts'
import { FigureTrack } from './figures.ts'
import { QuotaTrack } from './quotas.ts'

/** What is followed for one key. */
export interface Track {
  readonly belief: Belief
  readonly quota: QuotaTrack
  readonly figures: FigureTrack
  readonly scheme: SchemeTrack
  readonly charges: ChargeTrack
  /** How many changes were made with this key, and how many with others when it was used last. */
  own: number
  others: number
}

/** How many keys are told apart. Then the longest idle key is forgotten. */
const MOST_KEYS = 1_000

/** What is known of other clients. */
export interface AccountTerms {
  /** Whether no other client changes the account during the judgement, so that what was seen stays true. */
  isSoleWriter?: boolean
  /** Whether no other client would give a domain or a group a name like this. */
  isOwnName?(name: string): boolean
}

/** The tracks of all keys. Two keys may belong to one account, so a change with one key makes others uncertain. */
export class Tracks {
  /** In the order of their latest use. */
  readonly #all = new Map<string, Track>()
  readonly #terms: AccountTerms
  #latest: string | undefined
  /** How many changes were made with all keys. */
  #changes = 0

  constructor(terms: AccountTerms) {
    this.#terms = terms
  }

  /** The track of a key, for its next exchange. */
  of(credentials: Credentials): Track {
    const name = credentials.kind === 'sent' ? credentials.key : ''
    const track = this.#all.get(name) ?? this.#create()
    if (this.#latest !== name) {
      this.#all.delete(name)
      this.#all.set(name, track)
      this.#latest = name
      const [[idle = ''] = []] = this.#all
      if (this.#all.size > MOST_KEYS) this.#all.delete(idle)
    }
    const others = this.#changes - track.own
    if (track.others !== others) track.belief.forget()
    track.others = others
    return track
  }

  /** Notes that a request with this key may have changed its account. */
  noteChange(track: Track): void {
    this.#changes++
    track.own++
  }

  forget(): void {
    this.#all.clear()
    this.#latest = undefined
  }

  #create(): Track {
    const { isSoleWriter = false, isOwnName } = this.#terms
    return {
      belief: new Belief({ isOwn: (name) => isSoleWriter || isOwnName?.(name) === true, isSoleWriter }),
      quota: new QuotaTrack(),
      figures: new FigureTrack(),
      scheme: new SchemeTrack(),
      charges: new ChargeTrack(isSoleWriter),
      ...{ own: 0, others: this.#changes },
    }
  }
}
