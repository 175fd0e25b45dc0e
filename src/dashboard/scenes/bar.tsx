import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { useKeys } from './keys.ts'
import {
  endStory,
  goTo,
  lookAgain,
  moving,
  presenting,
  sceneOf,
  stopPresenting,
  telling,
  togglePresentation,
} from './story.ts'
import { Outcomes, Paragraphs, StoryTroubles } from './words.tsx'

const KEYS: Readonly<Record<string, () => unknown>> = {
  ArrowRight: () => moveBy(1),
  n: () => moveBy(1),
  ArrowLeft: () => moveBy(-1),
  b: () => moveBy(-1),
  p: togglePresentation,
}
/** More keys while the story is presented. Clickers press those of pages. */
const KEYS_OF_PRESENTATION: typeof KEYS = {
  PageDown: () => moveBy(1),
  PageUp: () => moveBy(-1),
  Escape: stopPresenting,
}

function moveBy(scenes: number): Promise<void> {
  return goTo((telling.peek()?.step ?? 0) + scenes)
}

/** The words and the buttons of the story below the views. */
export function StoryBar() {
  const place = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    // The opener of the story may be gone, and the user reads the words next.
    place.current?.querySelector<HTMLElement>('.words')?.focus({ preventScroll: true })
    return reserveRoom(place.current)
  }, [])
  useKeys((key) => KEYS[key] ?? (presenting.peek() ? KEYS_OF_PRESENTATION[key] : undefined))

  const told = telling.value
  const scene = sceneOf(told)
  if (told === undefined || scene === undefined) return null
  const { step, story, end, outcomes } = told
  const last = step === story.scenes.length - 1
  // The header of the page has the first heading, and is hidden in a presentation.
  const Title = presenting.value ? 'h1' : 'h2'
  return (
    <section id="story" ref={place} class={presenting.value ? 'presented' : ''} aria-label="Story">
      <div class="words" aria-live="polite" tabIndex={-1}>
        <p class="soft step">{`Scene ${step + 1} of ${story.scenes.length}`}</p>
        <Title dir="auto">{scene.title}</Title>
        <Paragraphs text={scene.text} />
        <Outcomes outcomes={outcomes} />
        <StoryTroubles told={told} />
      </div>
      <progress class="unseen" max={story.scenes.length} value={step + 1} aria-label="Progress of the story" />
      <div class="steps row" aria-busy={moving.value}>
        {end === undefined && (
          <>
            <Button words="Back" work={() => goTo(step - 1)} disabled={step === 0} title="Back: B or ←" />
            {!last && <Button words="Next" kind="primary" work={() => goTo(step + 1)} title="Next: N or →" />}
            {scene.look_at !== undefined && (
              <Button words="Look again" work={() => lookAgain()} title="Opens again what this scene looks at" />
            )}
            <Button
              words={presenting.value ? 'Stop presenting' : 'Present'}
              work={togglePresentation}
              title={presenting.value ? 'Back to the page: P or Escape' : 'In large type: P'}
            />
          </>
        )}
        <Button
          words={end === undefined ? 'End the story' : 'Close'}
          kind={last && end === undefined ? 'primary' : ''}
          work={endStory}
        />
      </div>
    </section>
  )
}

/** Keeps the end of the page, and content at its bottom, above the bar. */
function reserveRoom(bar: HTMLElement | null): (() => void) | undefined {
  if (bar === null) return undefined
  const { style } = document.documentElement
  const observer = new ResizeObserver(() => style.setProperty('--story-height', `${bar.offsetHeight}px`))
  observer.observe(bar)
  return () => {
    observer.disconnect()
    style.removeProperty('--story-height')
  }
}
