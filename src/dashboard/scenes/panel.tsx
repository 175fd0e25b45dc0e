import { computed } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { isOfStory, snapshots } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { ErrorText, showFailure, showNote } from '../controls/notices.tsx'
import { formatCount, formatInstant } from '../formatting.ts'
import { createResource, refreshShown } from '../resource.ts'
import type { Scene, Snapshot, Story } from '../responses.ts'
import { beginStory, describeCall, endStory, goTo, isForStory, lookAgain, moving, telling } from './story.ts'

const scenes = createResource({
  load: (account) => call('listScenes', { parameters: { account } }),
  tabs: ['scenes'],
  polled: true,
})

export function ScenesPanel() {
  return (
    <Loaded of={scenes}>
      {(story) => (story.scenes.length === 0 ? <NoScenes /> : <StoryOverview story={story} />)}
    </Loaded>
  )
}

function StoryOverview({ story }: { story: Story }) {
  const told = telling.value
  return (
    <>
      <section class="card stack story-begin" aria-labelledby="story-title">
        <h2 id="story-title" dir="auto">
          {story.title ?? 'The story of this account'}
        </h2>
        {story.description !== null && <p dir="auto">{story.description}</p>}
        <div class="row">
          {told === undefined && <Button words="Begin the story" kind="primary" work={() => begin(story, 0)} />}
          <span class="soft">
            {formatCount(story.scenes.length, 'scene')}. Each begins with the account as it is now. At the end, the
            account is set back to this state. Keys: N or → for the next scene, B or ← for the one before.
          </span>
        </div>
      </section>
      <ol id="scene-list" class="stack">
        {story.scenes.map((scene, index) => (
          <SceneCard key={index} scene={scene} index={index} story={story} />
        ))}
      </ol>
    </>
  )
}

function SceneCard({ scene, index, story }: { scene: Scene; index: number; story: Story }) {
  const told = telling.value
  const isTold = told?.step === index && told.story.scenes[index]?.title === scene.title
  const { look_at: look, calls = [] } = scene
  return (
    <li class="card scene" aria-current={isTold ? 'step' : undefined}>
      <span class="ordinal" aria-hidden="true">
        {index + 1}
      </span>
      <div class="stack grow scene-words">
        <h3 dir="auto">{scene.title}</h3>
        <Paragraphs text={scene.text} />
        <p class="soft row">
          {look !== undefined && (
            <span>
              Looks at {look.tab}
              {(look.domain ?? look.group ?? look.search) !== undefined && (
                <>
                  : <bdi>{look.domain ?? look.group ?? look.search}</bdi>
                </>
              )}
            </span>
          )}
          {calls.map((each, position) => (
            <span key={position} class="mono">
              {describeCall(each)}
            </span>
          ))}
        </p>
      </div>
      <Button
        words="Show this scene"
        work={() => (told === undefined ? begin(story, index) : goTo(index))}
        aria-label={`Show this scene, number ${index + 1}`}
      />
    </li>
  )
}

async function begin(story: Story, step: number): Promise<void> {
  const text =
    'Another page tells a story in this account, or was closed while it did. Each story sets the account back, also for the other page.'
  if (others.peek().length > 0 && !(await confirmed('Begin beside another story?', text, 'Begin'))) return
  await beginStory(story, step)
}

function NoScenes() {
  return (
    <div class="empty">
      <p>The fixture of this account has no scenes.</p>
      <p>
        The fixtures <code>demo</code> and <code>agency</code> have some. A fixture of your own tells a story with the
        field <code>scenes</code>: each scene has a <code>title</code>, a <code>text</code>, what to{' '}
        <code>look_at</code>, and the <code>calls</code> that change something. docs/demo.md has an example.
      </p>
    </div>
  )
}

/** The snapshots of stories on other or closed pages, with the oldest first. */
const others = computed(() => {
  const own = telling.value?.snapshot
  return (snapshots.data.value ?? []).filter((each) => isOfStory(each) && each.name !== own)
})

export function StoryBar() {
  return telling.value === undefined ? null : <Bar />
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, n: 1, N: 1, ArrowLeft: -1, b: -1, B: -1 }

function Bar() {
  const place = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    // The opener of the story may be gone, and the user reads the words next.
    place.current?.querySelector<HTMLElement>('.words')?.focus({ preventScroll: true })
    return reserveRoom(place.current)
  }, [])
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const by = STEPS[event.key]
      const told = telling.peek()
      if (by === undefined || told === undefined || event.defaultPrevented || !isForStory(event)) return
      event.preventDefault()
      goTo(told.step + by).catch(showFailure)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])

  const told = telling.value
  const scene = told?.story.scenes[told.step]
  if (told === undefined || scene === undefined) return null
  const { step, story, end, account, outcomes } = told
  const last = step === story.scenes.length - 1
  return (
    <section id="story" ref={place} class="no-print" aria-label="Story">
      <div class="words" aria-live="polite" tabIndex={-1}>
        <p class="soft step">{`Scene ${step + 1} of ${story.scenes.length}`}</p>
        <h2 dir="auto">{scene.title}</h2>
        <Paragraphs text={scene.text} />
        {outcomes.length > 0 && (
          <ul class="outcomes">
            {outcomes.map(({ call, expected, text }, index) => (
              <li key={index} class={expected ? 'good' : 'warn'}>
                <span class="mono">{describeCall(call)}</span> <ErrorText error={text} />
              </li>
            ))}
          </ul>
        )}
        {end !== undefined && (
          <p class="refusal bad" role="alert">
            {end}
          </p>
        )}
        {end === undefined && chosenAccount.value !== account && (
          <p class="refusal warn">{`The page shows another account. This story is told in the account ${account}.`}</p>
        )}
        {end === undefined && others.value.length > 0 && chosenAccount.value === account && (
          <p class="refusal warn">
            Another page tells a story in this account, too, or was closed while it did. Each story sets the account
            back, also for the other page.
          </p>
        )}
      </div>
      <progress class="unseen" max={story.scenes.length} value={step + 1} aria-label="Progress of the story" />
      <div class="steps row" aria-busy={moving.value}>
        {end === undefined && (
          <>
            <Button words="Back" work={() => goTo(step - 1)} disabled={step === 0} title="Back: B or ←" />
            {!last && <Button words="Next" kind="primary" work={() => goTo(step + 1)} title="Next: N or →" />}
            {scene.look_at !== undefined && (
              <Button words="Look again" work={lookAgain} title="Opens again what this scene looks at" />
            )}
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

/** The words of a scene. A line break begins another paragraph. */
function Paragraphs({ text }: { text: string }) {
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

/** Offers to restore the account after a story whose page was closed, unless this page has a story in progress. */
export function UnfinishedStory() {
  const [first] = others.value
  if (first === undefined || telling.value !== undefined) return null
  return (
    <section id="unfinished-story" class="warn no-print" aria-label="A story that was not ended">
      <p class="grow">
        {`A story was begun in this account when its clock showed ${formatInstant(first.taken_at)}, and not ended. Its page was closed, or another page is telling it now.`}
      </p>
      <div class="row">
        <Button words="Restore the state before the story" work={() => restore(first)} />
        <Button words="Keep the present state" work={() => keep(others.peek())} />
      </div>
    </section>
  )
}

/** Restores the account to its state before a story of another page. */
async function restore({ name }: Snapshot): Promise<void> {
  const text =
    'The account becomes as it was when the story began, with its clock. What was changed since is lost. If another page is telling the story, it ends there.'
  if (!(await confirmed('Restore the state before the story?', text, 'Restore'))) return
  const parameters = { account: chosenAccount.peek(), snapshot: name }
  await call('restoreSnapshot', { parameters })
  await call('deleteSnapshot', { parameters })
  await refreshShown()
  showNote('The account is as it was before the story.')
}

/** Keeps the account as it is, and deletes the snapshots that could restore it. */
async function keep(snapshots: readonly Snapshot[]): Promise<void> {
  const text =
    'The account stays as it is. The snapshot with the state before the story is deleted, so there is no way back to it.'
  if (!(await confirmed('Keep the present state?', text, 'Keep'))) return
  const account = chosenAccount.peek()
  for (const { name: snapshot } of snapshots) await call('deleteSnapshot', { parameters: { account, snapshot } })
  await refreshShown()
}
