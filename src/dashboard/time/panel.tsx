import { ClockSection } from './clock-section.tsx'
import { PlaySection } from './play-section.tsx'
import { TimelineSection } from './timeline-section.tsx'

/** The view Time: the clock of the account, a play of its days, and what it can be set back to. */
export function TimePanel() {
  return (
    <>
      <ClockSection />
      <PlaySection />
      <TimelineSection />
    </>
  )
}
