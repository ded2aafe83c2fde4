/** Selects two runs of the list for a comparison. */
import { Columns2, X } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'

import { linkToComparison } from '../../api/links.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import styles from './pick-runs.module.css'

/** Runs that are selected for a comparison. */
export interface Picking {
  /** Their ids, in the order of selection; undefined while none is being selected. */
  readonly picked: readonly string[] | undefined
  /** Selects or deselects a run; a third one replaces the second. */
  readonly pick: (runId: string) => void
  readonly begin: () => void
  readonly end: () => void
}

/** Returns the selection of the page. */
export function usePicking(): Picking {
  const [picked, setPicked] = useState<readonly string[]>()
  const pick = useCallback((runId: string) => setPicked((known) => pickRun(known, runId)), [])
  return useMemo(
    () => ({
      picked,
      pick,
      begin: () => setPicked([]),
      end: () => setPicked(undefined),
    }),
    [picked, pick],
  )
}

/** Returns the selection after a run was selected or deselected. */
export function pickRun(picked: readonly string[] = [], runId: string): readonly string[] {
  if (picked.includes(runId)) return picked.filter((one) => one !== runId)
  return [...picked.slice(0, 1), runId]
}

const HINTS = ['Select two runs', 'Select another run', 'Two runs selected']

/** The button that begins a selection; during one, its state and its end. */
export function CompareActions({ picking: { picked, begin, end } }: { readonly picking: Picking }) {
  if (picked === undefined) {
    return (
      <Button icon={<Columns2 />} onClick={begin} className={styles['begin']}>
        Compare…
      </Button>
    )
  }
  const [a, b] = picked
  return (
    <div role="group" aria-label="Compare runs" className={styles['picking']}>
      <span role="status">{HINTS[picked.length]}</span>
      {a !== undefined && b !== undefined && (
        <LinkButton kind="primary" icon={<Columns2 />} href={linkToComparison(a, b)}>
          Compare
        </LinkButton>
      )}
      <Button kind="quiet" icon={<X />} onClick={end}>
        Stop selecting
      </Button>
    </div>
  )
}
