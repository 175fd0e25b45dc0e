import { chosenAccount } from '../selection.ts'
import { ClockSection } from './clock-section.tsx'
import { play } from './play.ts'
import { PlaySection } from './play-section.tsx'
import { TimelineSection } from './timeline-section.tsx'

/** The view Time: the clock of the account, a play of its days, and what it can be set back to. */
export function TimePanel() {
  // Whoever sees a play wants to see its chart first.
  const isPlayed = play.value?.account === chosenAccount.value
  return (
    <>
      {isPlayed && <PlaySection />}
      {/* What was written for one account means nothing in another. */}
      <ClockSection key={`clock of ${chosenAccount}`} />
      {!isPlayed && <PlaySection key={`play of ${chosenAccount}`} />}
      <TimelineSection />
    </>
  )
}
