import { chosenAccount, go } from '../address.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { type Choice, LabelledSelect } from '../controls/form.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { formatInstant } from '../formatting.ts'
import {
  adoptPlay,
  continuePlay,
  deletePlayed,
  endPlay,
  isPlaying,
  originalOf,
  type Play,
  pausePlay,
  play,
  playTrouble,
  speed,
  stepOnce,
} from './play.ts'

const SPEEDS: readonly Choice[] = [['0.5', '½'], '1', '2']

/** Says on every tab that the account was made for a play, and offers the way back. */
export function PlayBanner() {
  const playing = play.value
  const account = chosenAccount.value
  if (playing !== undefined) return <Controls {...playing} />
  const original = originalOf(account)
  return original === undefined ? null : <Remains account={account} original={original} />
}

function Controls({ account, original, now, end }: Play) {
  const isOver = now >= end
  const isShown = chosenAccount.value === account
  return (
    <section id="play-banner" class="play-banner" aria-label="Play">
      <p class="grow">
        <strong>
          {isShown ? 'You see' : 'There is'} the account {account}
        </strong>
        , which plays {original}
        {isOver ? ' and has reached the end' : ''}:{' '}
        <time class="mono">{formatInstant(new Date(now).toISOString())}</time>
        {!isOver && !isPlaying.value && ', paused'}
      </p>
      <div class="row">
        {!isShown && <Button words={`Show ${account}`} work={() => go({ account })} />}
        {!isOver && (
          <>
            {isPlaying.value ? (
              <Button words="Pause" work={() => pausePlay()} />
            ) : (
              <Button words="Continue" kind="primary" work={continuePlay} />
            )}
            <Button words="Next day" work={stepOnce} />
            <LabelledSelect
              label="Days a second"
              class="inline"
              value={String(speed.value)}
              values={SPEEDS}
              onChoose={(days) => (speed.value = Number(days))}
            />
          </>
        )}
        <Button words={`Back to ${original}`} kind={isOver ? 'primary' : ''} work={endPlay} />
      </div>
      {playTrouble.value !== undefined && (
        <p class="refusal bad" role="alert">
          The play is paused. <ErrorText error={playTrouble.value} />
        </p>
      )}
    </section>
  )
}

/** The account of a play on another page or on a closed page. */
function Remains({ account, original }: { account: string; original: string }) {
  async function goBack(): Promise<void> {
    const text = `It was made to play ${original}, perhaps by another page that still plays it. ${original} does not change.`
    if (!(await confirmed(`Delete the account ${account}?`, text, 'Delete'))) return
    go({ account: original })
    await deletePlayed(account)
  }
  return (
    <section id="play-banner" class="play-banner" aria-label="Play">
      <p class="grow">
        <strong>You see the account {account}</strong>, which was made to play {original}.
      </p>
      <div class="row">
        <Button words="Play on" work={adoptPlay} />
        <Button words={`Back to ${original}`} work={() => go({ account: original })} />
        <Button words={`Delete ${account}`} kind="danger" work={goBack} />
      </div>
    </section>
  )
}
