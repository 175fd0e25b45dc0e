import type { KeyReport } from '../contract/control-plane.ts'
import { type AccountState, type ApiKey, isInGrace } from '../domain/account.ts'
import { accept } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { deriveLaterKey, identityOf } from '../ground/secrets.ts'
import { RealDate } from '../ground/timers.ts'
import { type AccountContext, changeAccount, done, type Handlers } from './handler.ts'
import { answerPage } from './paging.ts'
import { invalid, notFound, taken, tooMany } from './refusals.ts'

export const keyHandlers = {
  listKeys: (call) =>
    answerPage(call, 'keys', {
      items: call.account.keys,
      idOf: ({ id }) => id,
      report: (key) => reportKey(call, key),
    }),

  async createKey(call) {
    const { now, limits } = call
    const { label, key, created_at } = call.body
    const createdAt = created_at === undefined ? now : RealDate.parse(created_at)
    if (createdAt > now) return invalid('/created_at', created_at, 'future', { now: writeInstant(now) })
    const chosen = key ?? call.worlds.drawKey()
    // A client may present it before its write is done. A derived key is known by its form.
    if (chosen !== undefined) call.exchanges.journal.redactions.learn([chosen])
    const decide = (state: AccountState) => {
      if (state.keys.length >= limits.keysPerAccount) return tooMany(limits.keysPerAccount, 'keys')
      const ids = new Set(state.keys.map(({ id }) => id))
      let keysCreated = state.keysCreated + 1
      const derive = () => deriveLaterKey(state, keysCreated)
      // The account may already have the next derived key, because a client has added it.
      for (let tries = 0; tries < ids.size && chosen === undefined && ids.has(identityOf(derive()).id); tries++) {
        keysCreated++
      }
      const secret = chosen ?? derive()
      const created = { ...identityOf(secret), createdAt, disabled: false, ...(label !== undefined && { label }) }
      if (ids.has(created.id)) return taken('a key', created.id)
      return accept({ ...state, keys: [...state.keys, created], keysCreated }, { created, secret })
    }
    return changeAccount(call, decide, (_, { created, secret }) => ({ key: reportKey(call, created), api_key: secret }))
  },

  updateKey(call) {
    const { disabled } = call.body
    return changeKey(call, call.parameters.key, (key) => [{ ...key, disabled }])
  },

  async deleteKey(call) {
    const outcome = await changeKey(call, call.parameters.key, () => [])
    return outcome.ok ? done() : outcome
  },
} satisfies Handlers

/** Puts what `change` makes of a key in its place. */
function changeKey(call: AccountContext, id: string, change: (key: ApiKey) => ApiKey[]) {
  const decide = (state: AccountState) => {
    const key = state.keys.find((each) => each.id === id)
    if (key === undefined) return notFound('key', id)
    const changed = change(key)
    return accept(
      { ...state, keys: state.keys.flatMap((each) => (each === key ? changed : [each])) },
      changed[0] ?? key,
    )
  }
  return changeAccount(call, decide, (_, key) => ({ key: reportKey(call, key) }))
}

function reportKey({ now, contract }: AccountContext, key: ApiKey): KeyReport {
  const { id, label, createdAt, disabled } = key
  return {
    id,
    label: label ?? null,
    created_at: writeInstant(createdAt),
    disabled,
    in_grace: isInGrace(key, now, contract.settings.gracePeriod),
  }
}
