import type { AccountState } from '../domain/account.ts'
import { accept } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type ApiKey, isInGrace } from '../domain/keys.ts'
import { deriveLaterKey, identityOf } from '../ground/secrets.ts'
import { RealDate } from '../ground/timers.ts'
import { type AccountCall, type AccountHandler, done } from './handler.ts'
import { answerPage, type PageOf } from './paging.ts'
import { invalid, notFound, taken, tooMany } from './refusals.ts'
import type { KeyReport } from './reports.ts'

export const listKeys: AccountHandler<PageOf<'keys', KeyReport>> = (call) => {
  const { keys } = call.account
  return answerPage(call, 'keys', { items: keys, count: keys.length, idOf: ({ id }) => id }, (key) =>
    reportKey(call, key),
  )
}

export interface NewKey {
  label?: string
  /** Its secret. */
  key?: string
  created_at?: string
}

export const createKey: AccountHandler<{ key: KeyReport; api_key: string }, NewKey> = async (call) => {
  const { account, store, now, limits } = call
  const { label, key, created_at } = call.body
  const createdAt = created_at === undefined ? now : RealDate.parse(created_at)
  if (createdAt > now) return invalid('/created_at', created_at, 'future', { now: writeInstant(now) })
  const chosen = key ?? call.worlds.drawKey()
  let secret = chosen ?? ''
  const decision = await store.update(account.id, (state) => {
    if (state.keys.length >= limits.keysPerAccount) return tooMany(limits.keysPerAccount, 'keys')
    const ids = new Set(state.keys.map(({ id }) => id))
    let keysCreated = state.keysCreated + 1
    const derive = () => deriveLaterKey(state, keysCreated)
    // The account may already have the next derived key, because a client has added it.
    for (let tries = 0; tries < ids.size && chosen === undefined && ids.has(identityOf(derive()).id); tries++) {
      keysCreated++
    }
    secret = chosen ?? derive()
    const created = { ...identityOf(secret), createdAt, disabled: false, ...(label !== undefined && { label }) }
    if (ids.has(created.id)) return taken('a key', created.id)
    return accept({ ...state, keys: [...state.keys, created], keysCreated }, created)
  })
  if (!decision.ok) return decision
  call.exchanges.journal.redactions.learn([secret])
  return done({ key: reportKey(call, decision.value), api_key: secret })
}

export const updateKey: AccountHandler<{ key: KeyReport }, { disabled: boolean }> = (call) => {
  const { disabled } = call.body
  return changeKey(call, (state, key) => state.keys.map((each) => (each === key ? { ...each, disabled } : each)))
}

export const deleteKey: AccountHandler = async (call) => {
  const outcome = await changeKey(call, (state, key) => state.keys.filter((each) => each !== key))
  if (!outcome.ok) return outcome
  return done()
}

async function changeKey(call: AccountCall<unknown>, change: (state: AccountState, key: ApiKey) => ApiKey[]) {
  const { account, store, parameters } = call
  const id = parameters['key'] ?? ''
  const decision = await store.update(account.id, (state) => {
    const key = state.keys.find((each) => each.id === id)
    if (key === undefined) return notFound('key', id)
    const keys = change(state, key)
    return accept({ ...state, keys }, keys.find((each) => each.id === id) ?? key)
  })
  return decision.ok ? done({ key: reportKey(call, decision.value) }) : decision
}

function reportKey({ now, contract }: AccountCall<unknown>, key: ApiKey): KeyReport {
  const { id, label, createdAt, disabled } = key
  return {
    id,
    label: label ?? null,
    created_at: writeInstant(createdAt),
    disabled,
    in_grace: isInGrace(key, now, contract.settings.gracePeriod),
  }
}
