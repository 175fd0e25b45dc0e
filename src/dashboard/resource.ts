import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import { chosenAccount, DEFAULT_ACCOUNT, openTab, type Tab } from './address.ts'
import { call } from './client.ts'
import { isNotFound } from './refusals.ts'
import { mayHaveChanged } from './requests/exchange.ts'
import type { JournalEntry } from './responses.ts'

/** The default time after a load in which requests do not cause another load, in milliseconds. */
const USUAL_REST = 1_000

/** How the data of the chosen account is loaded, and when it becomes old. */
interface Source<Data> {
  /** Loads the data of an account. The result is dropped if the user has chosen another account. */
  load(account: string): Promise<Data>
  /** The tabs that show the data. It is loaded only while one of them is open. By default it is always shown. */
  tabs?: readonly Tab[]
  /** The most milliseconds between a request to the service and a load. By default, requests cause no load. */
  afterRequests?: number
  /** Whether only requests that may have changed the account cause a load. */
  changesOnly?: boolean
  /** The least time between a load and the next load after a request, in milliseconds. */
  restOf?(data: Data): number
  /** Whether it is loaded every few seconds, because other clients of the control plane can change it. */
  polled?: boolean
  /** Whether it is the same for all accounts. */
  shared?: boolean
  /** Whether a load without a known change is useful. It applies to loads after requests and to polling. */
  isStale?(): boolean
}

export interface Resource<Data> {
  /** The last data; `undefined` until the data of the chosen account has arrived. */
  readonly data: ReadonlySignal<Data | undefined>
  /** The error of the last load, if it failed. */
  readonly failure: ReadonlySignal<unknown>
  /** Loads the data again. During a load, it starts another load afterwards. It rejects if the load fails. */
  refresh(): Promise<void>
  /** Sets the data from the answer of a call, instead of loading it. */
  set(data: Data): void
}

interface Watched {
  isShown(): boolean
  /** Whether other clients may have changed it, and no load is under way or will be soon. */
  isDueToPoll(): boolean
  forget(): void
  refresh(): Promise<void>
  noteRequest(request: JournalEntry): void
}

const watched: Watched[] = []
/** Called when the chosen account no longer exists. */
let onLoss: () => void = () => undefined

/** Creates a resource. It is loaded when it is first shown, and again when it may have changed. */
export function createResource<Data>({
  load,
  tabs,
  afterRequests,
  changesOnly = false,
  restOf = () => USUAL_REST,
  polled = false,
  shared = false,
  isStale = () => true,
}: Source<Data>): Resource<Data> {
  const data = signal<Data | undefined>(undefined)
  const failure = signal<unknown>(undefined)
  let current: Promise<void> | undefined
  let again: Promise<void> | undefined
  /** Whether a request makes a load necessary. */
  let isDue = false
  let resting: ReturnType<typeof setTimeout> | undefined

  async function loadOnce(): Promise<void> {
    const account = chosenAccount.peek()
    try {
      const loaded = await load(account)
      if (!shared && account !== chosenAccount.peek()) return
      data.value = loaded
      failure.value = undefined
    } catch (error) {
      if (!shared && account !== chosenAccount.peek()) return
      failure.value = error
      if (isNotFound(error)) void leaveIfLost(account)
      throw error
    } finally {
      rest()
    }
  }

  function rest(): void {
    if (afterRequests === undefined) return
    clearTimeout(resting)
    const known = data.peek()
    const pause = known === undefined ? USUAL_REST : restOf(known)
    resting = setTimeout(() => {
      resting = undefined
      loadDue()
    }, pause)
  }

  /** Loads data that a request has made old, unless it was loaded a moment ago. */
  function loadDue(): void {
    if (!isDue || resting !== undefined || current !== undefined) return
    isDue = false
    if (isShown() && !document.hidden && isStale()) refresh().catch(() => undefined)
  }

  function isShown(): boolean {
    return tabs === undefined || tabs.some((tab) => tab === openTab.peek())
  }

  function refresh(): Promise<void> {
    if (current === undefined) {
      current = loadOnce().finally(() => {
        current = undefined
      })
      return current
    }
    again ??= current
      .catch(() => undefined)
      .then(() => {
        again = undefined
        return refresh()
      })
    return again
  }

  watched.push({
    ...{ refresh, isShown },
    isDueToPoll: () => polled && current === undefined && !isDue && isStale(),
    forget() {
      if (shared) return
      data.value = undefined
      failure.value = undefined
    },
    noteRequest(request) {
      if (afterRequests === undefined || isDue || (!shared && request.account !== chosenAccount.peek())) return
      // A fault can move the clock with any request.
      if (changesOnly && !mayHaveChanged(request) && request.fault === null) return
      isDue = true
      if (resting === undefined && current === undefined) setTimeout(loadDue, afterRequests)
    },
  })
  return {
    data,
    failure,
    refresh,
    set(value) {
      data.value = value
    },
  }
}

export async function refreshShown(): Promise<void> {
  await refreshEach((each) => each.isShown())
}

async function refreshEach(isWanted: (each: Watched) => boolean): Promise<void> {
  await Promise.allSettled(watched.filter(isWanted).map((each) => each.refresh()))
}

/** Tells the resources that the service has answered a request. */
export function noteRequest(request: JournalEntry): void {
  for (const each of watched) each.noteRequest(request)
}

/** Loads the visible data that other clients of the control plane may have changed. */
export async function poll(): Promise<void> {
  await refreshEach((each) => each.isShown() && each.isDueToPoll())
}

/** Loads the data of a tab when it is opened, and all data when another account is chosen. */
export function followChoice(leaveLostAccount: () => void): void {
  onLoss = leaveLostAccount
  let account: string | undefined
  effect(() => {
    const chosen = chosenAccount.value
    void openTab.value
    untracked(() => {
      if (chosen !== account) for (const each of watched) each.forget()
      account = chosen
      void refreshShown()
    })
  })
}

/** Leaves an account if it no longer exists. A 404 may also be about a part of the account. */
async function leaveIfLost(account: string): Promise<void> {
  // The default account always exists.
  if (account === DEFAULT_ACCOUNT) return
  const isLost = await call('getAccount', { parameters: { account } }).then(() => false, isNotFound)
  if (isLost && account === chosenAccount.peek()) onLoss()
}
