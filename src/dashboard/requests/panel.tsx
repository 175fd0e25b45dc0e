import { batch, useSignalEffect } from '@preact/signals'
import { summary } from '../account-data.ts'
import { call } from '../client.ts'
import { Copyable } from '../controls/copyable.tsx'
import { BASE_URL, FACTS } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { createResource } from '../resource.ts'
import { lookedAt, takeLook } from '../selection.ts'
import { authorizeCurl } from '../shell.ts'
import { arrivals, conditions, drawnCount, scope, shown, total, words } from './list.ts'
import { NO_CONDITIONS } from './listed-request.ts'
import { closeRequest, openRequest } from './request-sheet.tsx'
import { RequestTable } from './rows.tsx'
import { RequestToolbar } from './toolbar.tsx'

/** The number of requests without a valid key. The stream of an account does not have them and cannot announce them. */
const keyless = createResource({
  async load() {
    const { count } = await call('listAllRequests', { query: { account: 'none', limit: 1 } })
    return count
  },
  tabs: ['requests'],
  polled: true,
  shared: true,
})

/** How many requests the list has. */
export function requestsTally(): number | undefined {
  return total.value
}

/** The view Requests, with live requests. */
export function RequestsPanel() {
  useSignalEffect(() => {
    if (lookedAt.value === undefined) return
    const { search = '', request } = takeLook() ?? {}
    words.value = search
    if (request === undefined) closeRequest()
    else openRequest(request)
  })
  return (
    <>
      <h2 class="unseen">Requests</h2>
      <RequestToolbar />
      <Keyless />
      {shown.value.length > 0 ? <RequestTable /> : <Nothing />}
    </>
  )
}

/** Leads to requests without an account, because a request with a wrong key does not appear in its account. */
function Keyless() {
  const count = keyless.data.value ?? 0
  if (scope.value !== 'account') {
    const whose =
      scope.value === 'none' ? 'The requests without a valid key' : 'The requests of all accounts and of none'
    return (
      <p id="keyless" class="soft">
        {whose}.{' '}
        <button type="button" class="link" onClick={() => look('account')}>
          Back to this account
        </button>
      </p>
    )
  }
  if (count === 0) return null
  return (
    <p id="keyless" class="soft">
      {formatCount(count, 'request')} without a valid key {count === 1 ? 'belongs' : 'belong'} to no account.{' '}
      <button type="button" class="link" onClick={() => look('none')}>
        Show {count === 1 ? 'it' : 'them'}
      </button>
    </p>
  )
}

function look(at: 'account' | 'none'): void {
  batch(() => {
    scope.value = at
    conditions.value = NO_CONDITIONS
    words.value = ''
  })
}

/** Explains why no request is shown, and what the user can do. */
function Nothing() {
  if (total.value === undefined) return <p class="empty">Loading the requests…</p>
  if (drawnCount.value > 0) {
    return (
      <p id="requests-empty" class="empty">
        None of the {formatCount(drawnCount.value, 'request')} that {drawnCount.value === 1 ? 'is' : 'are'} loaded
        contains these words.
      </p>
    )
  }
  if (conditions.value !== NO_CONDITIONS && Object.values(conditions.value).some(Boolean)) {
    return (
      <p id="requests-empty" class="empty">
        No request in the journal is of this kind.
      </p>
    )
  }
  if (arrivals.value > 0) {
    return (
      <p id="requests-empty" class="empty">
        {formatCount(arrivals.value, 'request')} came, but the journal does not have{' '}
        {arrivals.value === 1 ? 'it' : 'them'}. Does the server run with --journal 0?
      </p>
    )
  }
  return scope.value === 'account' ? <FirstRequest /> : <p class="empty">No requests of this kind yet.</p>
}

/** A command that sends the first request. */
function FirstRequest() {
  const { api_key: key = null } = summary.data.value ?? {}
  const reading = FACTS.operations.find(({ method }) => method === 'GET')
  const command = `curl -sS ${authorizeCurl(key)} ${BASE_URL}${reading?.path ?? '/'}`
  return (
    <div id="requests-empty" class="card stack">
      <p>No requests yet. Send one; it appears here at once.</p>
      <Copyable text={command} label="Copy the command" />
      {key === null && <p class="soft">The key of this account is secret. The command reads it from API_KEY.</p>}
    </div>
  )
}
