import { useLayoutEffect, useRef } from 'preact/hooks'
import { call } from './control.ts'
import { createSource, snapshots } from './data.ts'
import { formatCount } from './formatting.ts'
import { chosenAccount } from './place.tsx'
import type { Schemas } from './responses.ts'
import { BEFORE, begin, describeCall, endStory, goTo, moving, presenting, telling } from './story.ts'
import { Button, Card, showFailure } from './ui/elements.tsx'
import { Loaded } from './ui/loaded.tsx'

const scenes = createSource((account) => call('listScenes', { parameters: { account } }), { isStill: true })

export function ScenesView() {
  return (
    <Loaded of={scenes.use()} what="the scenes">
      {(story) => (story.scenes.length === 0 ? <NoScenes /> : <Overview story={story} />)}
    </Loaded>
  )
}

function Overview({ story }: { story: Schemas['Story'] }) {
  const isUnfinished = (snapshots.use().data ?? []).some(({ name }) => name === BEFORE)
  return (
    <>
      <Card title={story.title ?? 'The story of this account'}>
        {story.description !== null && <p dir="auto">{story.description}</p>}
        <p class="soft">
          {formatCount(story.scenes.length, 'scene')}. Each begins with the account as it is now. At the end, the
          account is set back to this state. Keys: N or → for the next scene, B or ← for the one before, P to present it
          in large type.
        </p>
        {telling.value === undefined && !isUnfinished && (
          <div class="row">
            <Button words="Begin the story" kind="primary" work={() => begin(story, 0)} />
          </div>
        )}
        {telling.value === undefined && isUnfinished && (
          <p class="refusal warn">
            A story was begun in this account and not ended: its page was closed, or another page is telling it now.{' '}
            <Button words="Restore the state before the story" work={() => endStory(chosenAccount.value)} /> To keep the
            present state, delete the snapshot {BEFORE} in the view Time.
          </p>
        )}
      </Card>
      <ol class="stack">
        {story.scenes.map((scene, index) => (
          <li key={index} class="card stack" aria-current={telling.value?.step === index ? 'step' : undefined}>
            <div class="row">
              <h3 class="grow" dir="auto">
                {scene.title}
              </h3>
              {telling.value === undefined && !isUnfinished && (
                <Button words={`Begin with scene ${index + 1}`} kind="small" work={() => begin(story, index)} />
              )}
            </div>
            <Paragraphs text={scene.text} />
            {scene.calls?.map((each, place) => (
              <p key={place} class="soft mono">
                {describeCall(each)}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </>
  )
}

function NoScenes() {
  return (
    <p class="empty">
      The fixture of this account has no scenes. The fixtures demo and agency have some, and docs/demo.md says how a
      fixture of your own tells a story.
    </p>
  )
}

/** The words of a scene. A line break begins another paragraph. */
function Paragraphs({ text }: { text: string }) {
  const paragraphs = text.split('\n').filter((line) => line.trim() !== '')
  return (
    <>
      {paragraphs.map((paragraph, index) => (
        <p key={index} dir="auto">
          {paragraph}
        </p>
      ))}
    </>
  )
}

/** What each key does while a story is told. Clickers press those of pages. */
const KEYS: Readonly<Record<string, (step: number) => unknown>> = {
  ...{ ArrowRight: (step) => goTo(step + 1), n: (step) => goTo(step + 1), PageDown: (step) => goTo(step + 1) },
  ...{ ArrowLeft: (step) => goTo(step - 1), b: (step) => goTo(step - 1), PageUp: (step) => goTo(step - 1) },
  p: togglePresentation,
}

function togglePresentation(): void {
  presenting.value = !presenting.peek()
}

export function StoryBar() {
  const told = telling.value
  return told === undefined ? null : <Bar {...told} />
}

function Bar({ account, scenes, step, outcomes }: NonNullable<typeof telling.value>) {
  const words = useRef<HTMLDivElement>(null)
  // An effect after the painting would lose a key that is pressed as soon as the bar is seen.
  useLayoutEffect(() => {
    words.current?.focus({ preventScroll: true })
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
  const scene = scenes[step]
  if (scene === undefined) return null
  const isLast = step === scenes.length - 1
  // The header of the page has the first heading, and is hidden in a presentation.
  const Title = presenting.value ? 'h1' : 'h2'
  return (
    <section id="story" class={presenting.value ? 'presented' : ''} aria-label="Story">
      <div ref={words} class="stack" aria-live="polite" tabIndex={-1}>
        <p class="soft">{`Scene ${step + 1} of ${scenes.length}`}</p>
        <Title dir="auto">{scene.title}</Title>
        <Paragraphs text={scene.text} />
        {outcomes.map(({ call, expected, text }, index) => (
          <p key={index} class={`refusal ${expected ? 'good' : 'warn'}`}>
            <span class="mono">{describeCall(call)}</span> <bdi>{text}</bdi>
          </p>
        ))}
      </div>
      <div class="row" aria-busy={moving.value}>
        <Button words="Back" work={() => goTo(step - 1)} disabled={step === 0} title="Back: B or ←" />
        {!isLast && <Button words="Next" kind="primary" work={() => goTo(step + 1)} title="Next: N or →" />}
        <Button words={presenting.value ? 'Stop presenting' : 'Present'} work={togglePresentation} title="P" />
        <Button words="End the story" kind={isLast ? 'primary' : ''} work={() => endStory(account)} />
      </div>
    </section>
  )
}

/** Does what a key means, before the view does something with it, unless the focused element or a dialog uses it. */
function onKeyDown(event: KeyboardEvent): void {
  const { key, target, altKey, ctrlKey, metaKey, shiftKey, isComposing } = event
  const isOther = altKey || ctrlKey || metaKey || shiftKey || isComposing
  const isEnd = presenting.peek() && key === 'Escape'
  const deed = isEnd ? togglePresentation : KEYS[key.length === 1 ? key.toLowerCase() : key]
  if (deed === undefined || isOther || document.querySelector('dialog:modal') !== null) return
  if (target instanceof Element && target.closest('input, select, textarea, summary') !== null) return
  event.preventDefault()
  event.stopPropagation()
  Promise.resolve(deed(telling.peek()?.step ?? 0)).catch(showFailure)
}
