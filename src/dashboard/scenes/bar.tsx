import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { chosenAccount } from '../place.tsx'
import { snapshots } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { ErrorText, showFailure } from '../ui/notices.tsx'
import { describeCall } from './calls.ts'
import {
  endStory,
  goTo,
  isOfOther,
  lookAgain,
  moving,
  presenting,
  sceneOf,
  type Telling,
  telling,
  togglePresentation,
} from './story.ts'

/** What each key does while a story is told. */
const KEYS: Readonly<Record<string, () => unknown>> = {
  ArrowRight: () => moveBy(1),
  n: () => moveBy(1),
  ArrowLeft: () => moveBy(-1),
  b: () => moveBy(-1),
  p: togglePresentation,
}
/** More keys while it is presented. Clickers press those of pages. */
const KEYS_OF_PRESENTATION: typeof KEYS = {
  PageDown: () => moveBy(1),
  PageUp: () => moveBy(-1),
  Escape: togglePresentation,
}
/** Elements that use arrow keys or letters themselves. */
const USES_KEYS = 'input, select, textarea, summary'

function moveBy(scenes: number): Promise<void> {
  return goTo((telling.peek()?.step ?? 0) + scenes)
}

/** The words and the buttons of the story below the views. */
export function StoryBar() {
  const told = telling.value
  return told === undefined ? null : <Bar told={told} />
}

function Bar({ told }: { told: Telling }) {
  const place = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    // The opener of the story may be gone, and the user reads the words next.
    place.current?.querySelector<HTMLElement>('.words')?.focus({ preventScroll: true })
    return reserveRoom(place.current)
  }, [])
  useKeys()
  const scene = sceneOf(told)
  useHighlight(scene?.look_at)
  if (scene === undefined) return null
  const { step, story, end, outcomes } = told
  const last = step === story.scenes.length - 1
  // The header of the page has the first heading, and is hidden in a presentation.
  const Title = presenting.value ? 'h1' : 'h2'
  return (
    <section id="story" ref={place} class={presenting.value ? 'presented' : ''} aria-label="Story">
      <div class="words stack" aria-live="polite" tabIndex={-1}>
        <p class="soft">{`Scene ${step + 1} of ${story.scenes.length}`}</p>
        <Title dir="auto">{scene.title}</Title>
        <Paragraphs text={scene.text} />
        {outcomes.length > 0 && (
          <ul class="stack">
            {outcomes.map(({ call, expected, text }, index) => (
              <li key={index} class={`refusal ${expected ? 'good' : 'warn'}`}>
                <span class="mono">{describeCall(call)}</span> <ErrorText error={text} />
              </li>
            ))}
          </ul>
        )}
        <Troubles told={told} />
      </div>
      <div class="row steps" aria-busy={moving.value}>
        {end === undefined && (
          <>
            <Button words="Back" work={() => goTo(step - 1)} disabled={step === 0} title="Back: B or ←" />
            {!last && <Button words="Next" kind="primary" work={() => goTo(step + 1)} title="Next: N or →" />}
            {scene.look_at !== undefined && (
              <Button words="Look again" work={lookAgain} title="Opens again what this scene looks at" />
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

/** Why the story cannot continue, or what the user must know about it. */
function Troubles({ told: { end, account } }: { told: Telling }) {
  const taken = snapshots.use().data ?? []
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
  if (!taken.some(isOfOther)) return null
  return (
    <p class="refusal warn">
      Another page tells a story in this account, too, or was closed while it did. Each story sets the account back,
      also for the other page.
    </p>
  )
}

/** Does what a key means, before the view does something with it, unless the focused element or a dialog uses it. */
function useKeys(): void {
  // An effect after the painting would lose a key that is pressed as soon as the bar is seen.
  useLayoutEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const { key, target, altKey, ctrlKey, metaKey, shiftKey, isComposing } = event
      const name = key.length === 1 ? key.toLowerCase() : key
      const deed = KEYS[name] ?? (presenting.peek() ? KEYS_OF_PRESENTATION[name] : undefined)
      if (deed === undefined || altKey || ctrlKey || metaKey || shiftKey || isComposing) return
      if (document.querySelector('dialog:modal') !== null) return
      if (target instanceof Element && target.closest(USES_KEYS) !== null) return
      event.preventDefault()
      event.stopPropagation()
      Promise.resolve(deed()).catch(showFailure)
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
}

/** Highlights the subject of the scene in any view. A style sheet also applies to rows that are rendered later. */
function useHighlight({ domain, group }: { domain?: string; group?: string } = {}): void {
  useEffect(() => {
    const places = [
      ...(domain === undefined ? [] : [`[data-domain=${CSS.escape(domain)}]`]),
      ...(group === undefined ? [] : [`[data-group=${CSS.escape(group)}]`]),
    ]
    if (places.length === 0) return undefined
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`${places} { background: var(--accent-ground); box-shadow: inset 4px 0 0 var(--accent); }`)
    document.adoptedStyleSheets.push(sheet)
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
    }
  }, [domain, group])
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
