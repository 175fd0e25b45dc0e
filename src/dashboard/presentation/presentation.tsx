import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { openDialog } from '../controls/dialog.tsx'
import { Pairs } from '../controls/marks.tsx'
import type { Scene } from '../responses.ts'
import { useKeys } from '../scenes/keys.ts'
import {
  endStory,
  goBack,
  goOn,
  goTo,
  moving,
  type Stage,
  sceneOf,
  stagesOf,
  stopPresenting,
  type Telling,
  telling,
} from '../scenes/story.ts'
import { Outcomes, Paragraphs, StoryTroubles } from '../scenes/words.tsx'
import { LiveClient, showsRequests, toggleRequests } from './live-client.tsx'

const STAGES: Readonly<Record<Stage, string>> = { words: 'Words', calls: 'What happens', look: 'Look' }

/** The keys, each with what it does. Clickers press the keys of pages. */
const KEYS: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(['ArrowRight', 'PageDown', ' ', 'n'].map((key) => [key, goOn])),
  ...Object.fromEntries(['ArrowLeft', 'PageUp', 'b'].map((key) => [key, goBack])),
  ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [String(index + 1), () => goTo(index)])),
  Home: () => goTo(0),
  End: () => goTo((telling.peek()?.story.scenes.length ?? 1) - 1),
  ArrowDown: () => scrollView(1),
  ArrowUp: () => scrollView(-1),
  f: toggleFullScreen,
  l: toggleRequests,
  '?': showKeys,
  p: stopPresenting,
  Escape: stopPresenting,
}

/** The words of the scene, or what happens in it, in the place of the view. With the view, it is only the title. */
export function SceneWords() {
  const place = useRef<HTMLDivElement>(null)
  const told = telling.value
  const scene = sceneOf(told)
  useEffect(() => place.current?.focus({ preventScroll: true }), [])
  // What is shown next begins at its top.
  useEffect(() => {
    for (const each of [place.current, document.getElementById('panel')]) each?.scrollTo(0, 0)
  }, [told?.step, told?.stage])
  if (told === undefined || scene === undefined) return null
  const { step, story, stage } = told
  return (
    <div class={`told shows-${stage}`} aria-live="polite" tabIndex={-1} ref={place}>
      <p class="soft step">{`Scene ${step + 1} of ${story.scenes.length}`}</p>
      <h1 dir="auto">{scene.title}</h1>
      {stage === 'words' && <Paragraphs text={scene.text} />}
      {stage === 'calls' && <Outcomes told={told} scene={scene} isLarge />}
      <StoryTroubles told={told} />
    </div>
  )
}

/** The requests that arrive, and the buttons and keys of a presentation. */
export function Presentation() {
  const told = telling.value
  const scene = sceneOf(told)
  useKeys((key) => KEYS[key], 'capture')
  useEffect(() => leaveFullScreen, [])
  if (told === undefined || scene === undefined) return null
  return (
    <section id="presentation" class="no-print" aria-label="Presentation">
      <LiveClient account={told.account} />
      <Controls told={told} scene={scene} />
    </section>
  )
}

function Controls({ told, scene }: { told: Telling; scene: Scene }) {
  const { step, stage, story, end } = told
  const stages = stagesOf(scene)
  const isFirst = step === 0 && stage === stages[0]
  const isLast = step === story.scenes.length - 1 && stage === stages.at(-1)
  return (
    <div class="steps" aria-busy={moving.value}>
      <progress max={story.scenes.length} value={step + 1} aria-label="Progress of the story" />
      <div class="row">
        <div class="row of-story">
          {end === undefined && (
            <>
              <Button words="Back" work={goBack} disabled={isFirst} title="Back: B or ←" />
              {!isLast && <Button words="Next" kind="primary" work={goOn} title="Next: N, → or the space bar" />}
            </>
          )}
          {(isLast || end !== undefined) && (
            <Button words={end === undefined ? 'End the story' : 'Close'} kind="primary" work={endStory} />
          )}
        </div>
        <ol class="stages row grow" aria-label="Steps of this scene">
          {stages.map((each) => (
            <li key={each} aria-current={each === stage ? 'step' : undefined}>
              {STAGES[each]}
            </li>
          ))}
        </ol>
        <div class="row">
          <Button
            words="Requests"
            work={toggleRequests}
            aria-pressed={showsRequests.value}
            title="Shows the requests that arrive: L"
          />
          <FullScreenButton />
          <span class="of-keyboard">
            <Button words="Keys" work={showKeys} title="The keys: ?" />
          </span>
          <Button words="Stop presenting" work={stopPresenting} title="Back to the page: Escape or P" />
        </div>
      </div>
    </div>
  )
}

function FullScreenButton() {
  const [isFull, setFull] = useState(document.fullscreenElement !== null)
  useEffect(() => {
    const onChange = () => setFull(document.fullscreenElement !== null)
    document.addEventListener('fullscreenchange', onChange)
    return () => document.removeEventListener('fullscreenchange', onChange)
  }, [])
  if (!document.fullscreenEnabled) return null
  return <Button words="Full screen" work={toggleFullScreen} aria-pressed={isFull} title="Full screen: F" />
}

/** Scrolls what is shown by half of its height. Only one of these scrolls. */
function scrollView(by: 1 | -1): void {
  for (const each of document.querySelectorAll('.told, #panel, #panel :is(.table, .long-list)')) {
    each.scrollBy(0, (by * each.clientHeight) / 2)
  }
}

async function toggleFullScreen(): Promise<void> {
  if (!document.fullscreenEnabled) throw new Error('This browser does not allow the page to fill the screen.')
  if (document.fullscreenElement === null) await document.documentElement.requestFullscreen()
  else await document.exitFullscreen()
}

function leaveFullScreen(): void {
  if (document.fullscreenElement !== null) document.exitFullscreen().catch(() => undefined)
}

async function showKeys(): Promise<void> {
  await openDialog(
    'Keys',
    <Pairs
      entries={[
        ['→, N, Page Down, space bar', 'the next step'],
        ['←, B, Page Up', 'the step before'],
        ['↓ ↑', 'scrolls what is shown'],
        ['1 to 9, Home, End', 'a scene by its number, the first one, the last one'],
        ['L', 'shows or hides the requests that arrive'],
        ['F', 'full screen'],
        ['Escape or P', 'stops presenting; the story continues in the page'],
      ]}
    />,
  )
}
