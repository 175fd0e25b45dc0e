import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Link } from '../controls/link.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { formatCount } from '../formatting.ts'
import { createResource } from '../resource.ts'
import type { Scene, Story } from '../responses.ts'
import { useKeys } from './keys.ts'
import { describeCall } from './scene-calls.ts'
import { goTo, telling, togglePresentation } from './story.ts'
import { begin } from './unfinished.tsx'
import { Paragraphs } from './words.tsx'

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
  useKeys((key) => (key === 'p' && telling.peek() === undefined ? togglePresentation : undefined))
  return (
    <>
      <section class="card stack story-begin" aria-labelledby="story-title">
        <h2 id="story-title" dir="auto">
          {story.title ?? 'The story of this account'}
        </h2>
        {story.description !== null && <p dir="auto">{story.description}</p>}
        <div class="row">
          {told === undefined && <Button words="Begin the story" kind="primary" work={() => begin(story, 0)} />}
          {told === undefined && <Button words="Present" work={togglePresentation} title="In large type: P" />}
          <span class="soft">
            {formatCount(story.scenes.length, 'scene')}. Each begins with the account as it is now. At the end, the
            account is set back to this state. Keys: N or → for the next scene, B or ← for the one before, P to present.
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
        <h3 dir="auto">
          <Link to={{ tab: 'scenes', subject: String(index + 1) }}>{scene.title}</Link>
        </h3>
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
