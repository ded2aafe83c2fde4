/** The timeline in its panel, which can be folded away: the work below it has the room then. */
import { ChevronDown, ChevronUp } from 'lucide-react'

import { Timeline } from '../features/timeline/timeline.tsx'
import { createStore } from '../lib/store.ts'
import { useStore } from '../lib/use-store.ts'
import { IconButton } from '../ui/controls/button.tsx'
import { Panel } from '../ui/layout/panel.tsx'
import styles from './run-view.module.css'

import type { ComponentProps } from 'react'

/** Where the browser keeps that it is folded. */
const PLACE = 'tutti.timeline'

/** Whether it is folded, on every run that this page shows. */
const folded = createStore(localStorage.getItem(PLACE) === 'folded')

/** The panel. */
export function TimelinePanel(props: ComponentProps<typeof Timeline>) {
  const isFolded = useStore(folded)
  const name = isFolded ? 'Show the timeline' : 'Fold the timeline'
  return (
    <Panel
      title="Timeline"
      flush
      className={isFolded ? styles['folded'] : styles['timeline']}
      actions={
        <IconButton
          label={name}
          icon={isFolded ? <ChevronDown /> : <ChevronUp />}
          aria-expanded={!isFolded}
          onClick={() => fold(!isFolded)}
        />
      }
    >
      {!isFolded && <Timeline {...props} />}
    </Panel>
  )
}

function fold(isFolded: boolean): void {
  folded.set(isFolded)
  if (isFolded) localStorage.setItem(PLACE, 'folded')
  else localStorage.removeItem(PLACE)
}
