import { chosenAccount } from '../selection.ts'
import { ClockSection } from './clock-section.tsx'
import { play } from './play.ts'
import { PlaySection } from './play-section.tsx'
import { TimelineSection } from './timeline-section.tsx'

/** The view Time: the clock of the account, a play of its days, and the states that it can return to. */
export function TimePanel() {
  // During a play, the user wants to see the chart first.
  const isPlayed = play.value?.account === chosenAccount.value
  return (
    <>
      {isPlayed && <PlaySection />}
      {/* The input for one account does not apply to another. */}
      <ClockSection key={`clock of ${chosenAccount}`} />
      {!isPlayed && <PlaySection key={`play of ${chosenAccount}`} />}
      <TimelineSection />
    </>
  )
}
