import { chosenAccount } from '../address.ts'
import { ErrorText } from '../controls/notices.tsx'
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

/** The calls of a scene that were answered, with their answers. */
export function Outcomes({ outcomes }: { outcomes: Telling['outcomes'] }) {
  if (outcomes.length === 0) return null
  return (
    <ul class="outcomes">
      {outcomes.map(({ call, expected, text }, index) => (
        <li key={index} class={expected ? 'good' : 'warn'}>
          <span class="mono">{describeCall(call)}</span> <ErrorText error={text} />
        </li>
      ))}
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
