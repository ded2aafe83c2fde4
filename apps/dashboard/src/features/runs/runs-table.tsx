/** The runs in a table; those that came in wait for the reader who is somewhere else. */
import { ArrowUp } from 'lucide-react'
import {
  useEffect,
  useMemo,
  useState,
  type FocusEvent,
  type PointerEvent,
  type RefObject,
} from 'react'

import { plural } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { VirtualTable, type VirtualTableHandle } from '../../ui/layout/virtual-table.tsx'
import { fitsGroup } from './run-filter.ts'
import { revealed, shownRuns, type RunListState } from './run-list.ts'
import { RunListRow } from './run-row.tsx'
import styles from './runs-table.module.css'

/** Columns, in the order of the cells of a row. */
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

/** Where the reader was in each list. */
const memories = new Map<string, { offset: number }>()

export function RunsTable({
  ref,
  list,
  change,
  onEnd,
  onTag,
}: {
  readonly ref: RefObject<VirtualTableHandle | null>
  readonly list: RunListState
  readonly change: (how: (state: RunListState) => RunListState) => void
  readonly onEnd: () => void
  readonly onTag: (tag: string) => void
}) {
  const { filter, fresh, total } = list
  const memory = memoryOf(JSON.stringify(filter))
  const [isAtTop, setAtTop] = useState(memory.offset === 0)
  const [isAway, away] = useAway()
  const runs = useMemo(() => shownRuns(list), [list])
  const showsNew = isAtTop && isAway && fresh.size > 0
  useEffect(() => {
    if (showsNew) change(revealed)
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
        total={Math.max(total, runs.length)}
        memory={memory}
        onEnd={onEnd}
        onTop={setAtTop}
      >
        {(run) => <RunListRow run={run} fits={fitsGroup(filter, run.status)} onTag={onTag} />}
      </VirtualTable>
      <div role="status" className={styles['news']}>
        {fresh.size > 0 && !showsNew && (
          <Button
            size="s"
            icon={<ArrowUp />}
            onClick={() => {
              change(revealed)
              ref.current?.toTop()
            }}
          >
            {plural(fresh.size, 'new run')}
          </Button>
        )}
      </div>
    </div>
  )
}

function memoryOf(key: string): { offset: number } {
  const memory = memories.get(key) ?? { offset: 0 }
  memories.set(key, memory)
  return memory
}

/** Whether the reader neither points at a part of the page nor has the focus there, with handlers for it. */
function useAway() {
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const handlers = {
    onPointerEnter: ({ pointerType }: PointerEvent): void => setPointed(pointerType === 'mouse'),
    onPointerLeave: (): void => setPointed(false),
    // A focus that is not seen was left by a click.
    onFocus: ({ target }: FocusEvent): void => setFocused(target.matches(':focus-visible')),
    onBlur: (): void => setFocused(false),
  }
  return [!isPointed && !isFocused, handlers] as const
}
