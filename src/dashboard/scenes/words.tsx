import { chosenAccount } from '../address.ts'
import { ErrorText } from '../controls/notices.tsx'
import type { Scene } from '../responses.ts'
import { describeCall } from './scene-calls.ts'
import type { Telling } from './story.ts'
import { others } from './unfinished.tsx'

/** The words of a scene. A line break begins another paragraph. */
export function Paragraphs({ text }: { text: string }) {
  const paragraphs = text.split('\n').filter((line) => line.trim() !== '')
  return (
    <>
      {paragraphs.map((paragraph, index) => (
        <p key={index} class="said" dir="auto">
          {paragraph}
        </p>
      ))}
    </>
  )
}

/** How many characters of a body are shown. */
const LONGEST_BODY = 160

function shorten(text: string): string {
  return text.length > LONGEST_BODY ? `${text.slice(0, LONGEST_BODY)}…` : text
}

/** The calls of a scene with their answers. `isLarge` shows also their bodies, and those that await an answer. */
export function Outcomes({ told: { outcomes }, scene, isLarge }: { told: Telling; scene: Scene; isLarge?: boolean }) {
  const { calls = [] } = scene
  if (!isLarge && outcomes.length === 0) return null
  return (
    <ul class="outcomes">
      {calls.slice(0, isLarge ? calls.length : outcomes.length).map((call, index) => {
        const outcome = outcomes[index]
        return (
          <li key={index} class={outcome === undefined ? '' : outcome.expected ? 'good' : 'warn'}>
            <span class="mono">{describeCall(call)}</span>{' '}
            {isLarge && call.body && <span class="mono">{shorten(JSON.stringify(call.body))}</span>}
            {outcome ? <ErrorText error={outcome.text} /> : '…'}
          </li>
        )
      })}
    </ul>
  )
}

/** Why the story cannot continue, or what the user must know about it. */
export function StoryTroubles({ told: { end, account } }: { told: Telling }) {
  if (end !== undefined) {
    return (
      <p class="refusal bad" role="alert">
        {end}
      </p>
    )
  }
  if (chosenAccount.value !== account) {
    return <p class="refusal warn">{`The page shows another account. This story is told in the account ${account}.`}</p>
  }
  if (others.value.length === 0) return null
  return (
    <p class="refusal warn">
      Another page tells a story in this account, too, or was closed while it did. Each story sets the account back,
      also for the other page.
    </p>
  )
}
