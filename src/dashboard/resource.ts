import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import { call } from './client.ts'
import { Refused } from './refusals.ts'
import { mayHaveChanged } from './request-lines.ts'
import type { JournalEntry } from './responses.ts'
import { chosenAccount, DEFAULT_ACCOUNT, openTab, type Tab } from './selection.ts'

/** For how many milliseconds data is not loaded again after a request, unless its source says otherwise. */
const USUAL_REST = 1_000

/** How the data of the chosen account is loaded, and what makes it old. */
interface Source<Data> {
  /** Loads the data of an account. What arrives after another account was chosen is dropped. */
  load(account: string): Promise<Data>
  /** The tabs that show the data; it is loaded only while one of them is open. By default it is always shown. */
  tabs?: readonly Tab[]
  /** For how many milliseconds, at most, the data may stay old after a request to the service; by default for ever. */
  afterRequests?: number
  /** Whether only requests that may have changed the account make it old. */
  changesOnly?: boolean
  /** For how many milliseconds what was loaded is not loaded again after a request, however many requests come. */
  restOf?(data: Data): number
  /** Whether other clients of the control plane change it, so that it is loaded every few seconds. */
  polled?: boolean
  /** Whether it is the same for all accounts. */
  shared?: boolean
  /** Whether it is worth loading again when nobody has said that it changed: after requests, and when it is polled. */
  isStale?(): boolean
}

/** Data of the chosen account. */
export interface Resource<Data> {
  /** What was loaded last; `undefined` until the data of the chosen account has arrived. */
  readonly data: ReadonlySignal<Data | undefined>
  /** Why it could not be loaded the last time, if it could not. */
  readonly failure: ReadonlySignal<unknown>
  /** Loads it again. While it is being loaded already, it is loaded once more afterwards. Rejects as the load does. */
  refresh(): Promise<void>
  /** Shows what a call has answered, in place of loading it again. */
  set(data: Data): void
}

interface Watched {
  isShown(): boolean
  isStale(): boolean
  forget(): void
  refresh(): Promise<void>
  noteRequest(request: JournalEntry): void
  polled: boolean
  /** Whether it is being loaded, or will be soon. */
  isAwaited(): boolean
}

const watched: Watched[] = []
/** Called when the chosen account does not exist any more. */
let onLoss: () => void = () => undefined

/** Creates a resource. The frame loads it when it is first shown, and again when something may have changed it. */
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
  /** Whether it is to be loaded because of a request. */
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
    resting = setTimeout(
      () => {
        resting = undefined
        loadDue()
      },
      known === undefined ? USUAL_REST : restOf(known),
    )
  }

  /** Loads what a request has made old, unless it was loaded a moment ago. */
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
    polled,
    refresh,
    isStale,
    isShown,
    isAwaited: () => current !== undefined || isDue,
    forget() {
      if (shared) return
      data.value = undefined
      failure.value = undefined
    },
    noteRequest(request) {
      if (afterRequests === undefined || isDue) return
      // A fault can move the clock, whatever the request is.
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

/** Loads everything that is shown. */
export async function refreshShown(): Promise<void> {
  await Promise.allSettled(watched.filter((each) => each.isShown()).map((each) => each.refresh()))
}

/** Notes that the service has answered a request of the chosen account. */
export function noteRequest(request: JournalEntry): void {
  for (const each of watched) each.noteRequest(request)
}

/** Loads, of what is shown, that which other clients of the control plane can change. */
export async function poll(): Promise<void> {
  const shown = watched.filter((each) => each.polled && each.isShown() && !each.isAwaited() && each.isStale())
  await Promise.allSettled(shown.map((each) => each.refresh()))
}

/** Loads what a tab shows when it is opened, and everything when another account is chosen. */
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

function isNotFound(error: unknown): boolean {
  return error instanceof Refused && error.status === 404
}

/** Leaves an account if it does not exist any more. What was not found may also be something that the account had. */
async function leaveIfLost(account: string): Promise<void> {
  // The default account always exists.
  if (account === DEFAULT_ACCOUNT) return
  const isLost = await call('getAccount', { parameters: { account } }).then(() => false, isNotFound)
  if (isLost && account === chosenAccount.peek()) onLoss()
}
