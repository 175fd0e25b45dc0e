import { formatCount } from '../formatting.ts'
import { Link } from '../place.tsx'
import type { Scene, Story } from '../responses.ts'
import { scenes } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Paragraphs } from './bar.tsx'
import { describeCall } from './calls.ts'
import { begin, telling, togglePresentation } from './story.ts'

export function ScenesView() {
  return (
    <Loaded of={scenes.use()} what="the scenes">
      {(story) => (story.scenes.length === 0 ? <NoScenes /> : <Overview story={story} />)}
    </Loaded>
  )
}

function Overview({ story }: { story: Story }) {
  return (
    <>
      <section class="card stack" aria-labelledby="story-title">
        <h2 id="story-title" dir="auto">
          {story.title ?? 'The story of this account'}
        </h2>
        {story.description !== null && <p dir="auto">{story.description}</p>}
        <div class="row">
          {telling.value === undefined && (
            <>
              <Button words="Begin the story" kind="primary" work={() => begin(0)} />
              <Button words="Present" work={togglePresentation} title="In large type" />
            </>
          )}
          <span class="soft">
            {formatCount(story.scenes.length, 'scene')}. Each begins with the account as it is now. At the end, the
            account is set back to this state. Keys: N or → for the next scene, B or ← for the one before, P to present.
          </span>
        </div>
      </section>
      <ol class="stack">
        {story.scenes.map((scene, index) => (
          <SceneCard key={index} scene={scene} index={index} />
        ))}
      </ol>
    </>
  )
}

function SceneCard({ scene, index }: { scene: Scene; index: number }) {
  const told = telling.value
  const isTold = told?.step === index && told.story.scenes[index]?.title === scene.title
  const { look_at: look, calls = [] } = scene
  const about = look?.domain ?? look?.group ?? look?.search
  return (
    <li class="card beside" aria-current={isTold ? 'step' : undefined}>
      <span class="badge odd" aria-hidden="true">
        {index + 1}
      </span>
      <div class="grow">
        <h3 dir="auto">
          <Link view="scenes" subject={String(index + 1)}>
            {scene.title}
          </Link>
        </h3>
        <Paragraphs text={scene.text} />
        <p class="soft row">
          {look !== undefined && (
            <span>
              Looks at {look.tab}
              {about !== undefined && (
                <>
                  : <bdi>{about}</bdi>
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
