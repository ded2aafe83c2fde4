/** Buttons that zoom the timeline. */
import { Minus, MoveHorizontal, Plus } from 'lucide-react'

import { IconButton } from '../../ui/controls/button.tsx'
import styles from './timeline.module.css'

import type { Viewport } from './use-viewport.ts'

/** How much one press zooms. */
const STEP = 2

/** Out, in, and all of it. */
export function ZoomButtons({
  zoom,
  fit,
  isFitting,
}: Pick<Viewport, 'zoom' | 'fit' | 'isFitting'>) {
  return (
    <>
      <IconButton
        label="Zoom out"
        icon={<Minus />}
        className={styles['zoom']}
        disabled={isFitting}
        onClick={() => zoom(1 / STEP)}
      />
      <IconButton
        label="Zoom in"
        icon={<Plus />}
        className={styles['zoom']}
        onClick={() => zoom(STEP)}
      />
      <IconButton
        label="Show all of it"
        icon={<MoveHorizontal />}
        className={styles['zoom']}
        disabled={isFitting}
        onClick={fit}
      />
    </>
  )
}
