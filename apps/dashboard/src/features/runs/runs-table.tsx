/** The table of runs. New runs stay hidden while the reader is busy in the table. */
import { ArrowUp } from 'lucide-react'
import {
  useEffect,
  useMemo,
  useState,
  type FocusEvent,
  type PointerEvent,
  type RefObject,
} from 'react'

import { formatPlural } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { VirtualTable, type VirtualTableHandle } from '../../ui/layout/virtual-list.tsx'
import { matchesGroup } from './run-filter.ts'
import { revealFresh, selectShownRuns, type RunListState } from './run-list.ts'
import { RunListRow } from './run-row.tsx'
import styles from './runs-table.module.css'

/** Columns, in the order of the cells. */
const COLUMNS = [
  ['Status', 'start'],
  ['Run', 'start'],
  ['Tags', 'start'],
  ['Progress', 'start'],
  ['Started', 'end'],
  ['Duration', 'end'],
  ['Tokens', 'end'],
  ['Cost', 'end'],
] as const

const HEAD = COLUMNS.map(([name, kind]) => (
  <span key={name} role="columnheader" className={styles[kind]}>
    {name}
  </span>
))

/** Height of a row, in pixels. */
const ROW = 41

/** Scroll positions, by filter. */
const memories = new Map<string, { offset: number }>()

export function RunsTable({
  ref,
  list,
  change,
  onEnd,
  picked,
  onPick,
  onTag,
}: {
  readonly ref: RefObject<VirtualTableHandle | null>
  readonly list: RunListState
  readonly change: (how: (state: RunListState) => RunListState) => void
  readonly onEnd: () => void
  /** Ids of the runs that are selected for a comparison; undefined while none is being selected. */
  readonly picked: readonly string[] | undefined
  readonly onPick: (runId: string) => void
  readonly onTag: (tag: string) => void
}) {
  const { filter, fresh, total, isCapped } = list
  const memory = findScrollMemory(JSON.stringify(filter))
  const [isAtTop, setAtTop] = useState(memory.offset === 0)
  const [isAway, away] = useAway()
  const runs = useMemo(() => selectShownRuns(list), [list])
  const showsNew = isAtTop && isAway && fresh.size > 0
  useEffect(() => {
    if (showsNew) change(revealFresh)
  }, [showsNew, change])
  return (
    <div className={styles['frame']} {...away}>
      <VirtualTable
        ref={ref}
        label="Runs"
        items={runs}
        keyOf={({ runId }) => runId}
        head={HEAD}
        rowClass={styles['row']}
        estimate={ROW}
        total={isCapped ? undefined : Math.max(total, runs.length)}
        memory={memory}
        onEnd={onEnd}
        onTop={setAtTop}
      >
        {(run) => (
          <RunListRow
            run={run}
            fits={matchesGroup(filter, run.status)}
            isPicked={picked?.includes(run.runId)}
            onPick={onPick}
            onTag={onTag}
          />
        )}
      </VirtualTable>
      <div role="status" className={styles['news']}>
        {fresh.size > 0 && !showsNew && (
          <Button
            size="s"
            icon={<ArrowUp />}
            onClick={() => {
              change(revealFresh)
              ref.current?.toTop()
            }}
          >
            {formatPlural(fresh.size, 'new run')}
          </Button>
        )}
      </div>
    </div>
  )
}

function findScrollMemory(key: string): { offset: number } {
  const memory = memories.get(key) ?? { offset: 0 }
  memories.set(key, memory)
  return memory
}

/**
 * Returns whether the reader neither points at a part of the page nor has the focus in it, and the
 * handlers that track this.
 */
function useAway() {
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const handlers = {
    onPointerEnter: ({ pointerType }: PointerEvent): void => setPointed(pointerType === 'mouse'),
    onPointerLeave: (): void => setPointed(false),
    // An invisible focus is left over from a click.
    onFocus: ({ target }: FocusEvent): void => setFocused(target.matches(':focus-visible')),
    onBlur: (): void => setFocused(false),
  }
  return [!isPointed && !isFocused, handlers] as const
}
