import { batch, useSignalEffect } from '@preact/signals'
import { summary } from '../account-data.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Copyable } from '../controls/copyable.tsx'
import { BASE_URL, FACTS } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { createResource } from '../resource.ts'
import { lookedAt, takeLook } from '../selection.ts'
import { authorizeCurl } from '../shell.ts'
import { arrivals, conditions, drawnCount, type Scope, scope, shown, total, words } from './list.ts'
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
    return <Lead text={`${whose}.`} words="Back to this account" to="account" />
  }
  if (count === 0) return null
  const [belong, them] = count === 1 ? ['belongs', 'it'] : ['belong', 'them']
  const text = `${formatCount(count, 'request')} without a valid key ${belong} to no account.`
  return <Lead text={text} words={`Show ${them}`} to="none" />
}

/** A text, and a link to all requests of a scope. */
function Lead({ text, words: link, to }: { text: string; words: string; to: Scope }) {
  function look(): void {
    batch(() => {
      scope.value = to
      conditions.value = NO_CONDITIONS
      words.value = ''
    })
  }
  return (
    <p id="keyless" class="soft">
      {text} <Button kind="link" words={link} work={look} />
    </p>
  )
}

/** Explains why no request is shown, and what the user can do. */
function Nothing() {
  if (total.value === undefined) return <p class="empty">Loading the requests…</p>
  const why = whyNothing()
  if (why !== undefined) {
    return (
      <p id="requests-empty" class="empty">
        {why}
      </p>
    )
  }
  return scope.value === 'account' ? <FirstRequest /> : <p class="empty">No requests of this kind yet.</p>
}

/** The reason why no request is shown; `undefined` if there was none yet. */
function whyNothing(): string | undefined {
  const [loaded, came] = [drawnCount.value, arrivals.value]
  if (loaded > 0) {
    const are = loaded === 1 ? 'is' : 'are'
    return `None of the ${formatCount(loaded, 'request')} that ${are} loaded contains these words.`
  }
  if (Object.values(conditions.value).some(Boolean)) return 'No request in the journal is of this kind.'
  if (came === 0) return undefined
  const them = came === 1 ? 'it' : 'them'
  return `${formatCount(came, 'request')} came, but the journal does not have ${them}. Does the server run with --journal 0?`
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
