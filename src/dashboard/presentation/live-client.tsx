import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { summary } from '../account-data.ts'
import { Button, CopyButton } from '../controls/button.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { telling } from '../scenes/story.ts'
import { curlOf } from '../service-calls.tsx'
import { type Arrival, arrivals, watchArrivals } from './arrivals.ts'
import { isSending, reason, startSending, stopSending } from './own-client.ts'

/** Whether the requests are shown beside the story. */
export const showsRequests = signal(true)

/** What arrives at the account, like the output of a terminal, and what lets a client send something. */
export function LiveClient({ account }: { account: string }) {
  useEffect(watchArrivals, [account])
  useEffect(() => () => stopSending(), [account])
  if (!showsRequests.value) return null
  return (
    <section class="live" aria-label="Live client">
      <div class="live-tools">
        <Command />
        <Sender account={account} />
      </div>
      <Output />
    </section>
  )
}

/** A loop for a terminal beside the page. */
function Command() {
  const place = useRef<HTMLElement>(null)
  const path = FACTS.operations.find(({ method }) => method === 'GET')?.path ?? '/'
  const command = `while sleep 2; do ${curlOf(path, summary.data.value?.api_key ?? null)} | cut -c 1-120; done`
  return (
    <p class="command">
      <code ref={place} class="truncate" title={command}>
        {command}
      </code>
      <CopyButton text={command} shown={() => place.current} label="Copy a command that sends requests" />
    </p>
  )
}

function Sender({ account }: { account: string }) {
  if (summary.data.value?.api_key == null) {
    return <p class="soft">The key of this account is secret, so only a client that knows it can send requests.</p>
  }
  const words = isSending.value ? 'Stop sending requests' : 'Send a request every two seconds'
  return (
    <>
      <Button words={words} work={() => (isSending.peek() ? stopSending() : startSending(account))} />
      <p class="soft" role="status">
        {reason}
      </p>
    </>
  )
}

function Output() {
  const sent = new Set((telling.value?.outcomes ?? []).map(({ requestId }) => requestId))
  const shown = arrivals.value
  return (
    // Screen readers are told what the scene says. This would interrupt them with each request.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls, which the keyboard must be able to do.
    <div class="output" role="log" aria-live="off" aria-label="Requests that arrive" tabIndex={0}>
      {shown.length === 0 ? (
        <p class="soft">Nothing has arrived yet.</p>
      ) : (
        <ol>
          {shown.map((each) => (
            <Line key={each.id} arrival={each} isOfScene={sent.has(each.requestId)} />
          ))}
        </ol>
      )}
    </div>
  )
}

function Line({ arrival, isOfScene }: { arrival: Arrival; isOfScene: boolean }) {
  const { time, method, target, status, code, body, isAnswer } = arrival
  const tone = status === null ? 'odd' : status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'
  return (
    <li class={`line ${isOfScene ? 'of-scene' : ''}`}>
      <p>
        <span class="soft">{time}</span> <span class="target">{`${method} ${target}`}</span>{' '}
        <b class={`tone-${tone}`}>{status ?? 'no response'}</b> {code}
        {isOfScene && <span class="mark"> this scene</span>}
      </p>
      {body !== '' && (
        <p class="body truncate soft">
          <span aria-hidden="true">{isAnswer ? '← ' : '→ '}</span>
          <bdi>{body}</bdi>
        </p>
      )}
    </li>
  )
}

/** Shows or hides the requests. */
export function toggleRequests(): void {
  showsRequests.value = !showsRequests.peek()
  showNote(showsRequests.peek() ? 'The requests are shown.' : 'The requests are hidden.')
}
