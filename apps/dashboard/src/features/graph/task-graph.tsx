/**
 * Shows the tasks of a run and their dependencies: a row for each task, in the order in which they
 * can run, next to lanes that connect them.
 */
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
} from 'react'

import { Empty } from '../../ui/feedback/notice.tsx'
import {
  computeLaneX,
  computeLanesWidth,
  computePitch,
  GraphLines,
  chooseLineTones,
} from './graph-lines.tsx'
import {
  layOutTasks,
  type GraphLayout,
  findRowAfterKey,
  readTaskGraph,
  type GraphTask,
} from './layout.ts'
import { findHeldTasks } from './task-numbers.ts'
import { GraphTaskRow } from './task-row.tsx'
import styles from './task-graph.module.css'

import type { RunState } from '@tutti/protocol'

interface TaskGraphProps {
  readonly state: RunState
  readonly selected: string | undefined
  readonly onSelect: (taskName: string) => void
}

/** The graph; one task is selected. */
export function TaskGraph({ state, selected, onSelect }: TaskGraphProps) {
  const layout = useLayout(state)
  const select = useLatest(onSelect)
  const held = useMemo(() => findHeldTasks(state.reviews), [state.reviews])
  const tasks = useMemo(() => new Map(state.tasks.map((task) => [task.name, task])), [state.tasks])
  const [focused, setFocused] = useState<string>()
  const scroller = useRef<HTMLDivElement>(null)
  const running = layout.rows.find(
    ({ name }) => held.has(name) || tasks.get(name)?.status === 'RUNNING',
  )?.name
  const { onScroll } = useFollowing(scroller, running ?? selected)
  if (layout.rows.length === 0) return <Empty title="No tasks yet" />
  const stop = [focused, selected, layout.rows[0]?.name].find(
    (name) => name !== undefined && layout.rows.some((row) => row.name === name),
  )
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const row = layout.rows.findIndex(({ name }) => name === stop)
    const next = findRowAfterKey(layout, row, event.key)
    if (next === undefined) return
    event.preventDefault()
    findButtons(event.currentTarget)[next]?.focus()
  }
  const pitch = computePitch(layout)
  return (
    <div ref={scroller} className={styles['graph']} onScroll={onScroll}>
      <div className={styles['sheet']}>
        <GraphLines
          layout={layout}
          tones={chooseLineTones(layout, { tasks, held, selected }).join(' ')}
        />
        <ol aria-label="Tasks in order" onKeyDown={onKeyDown}>
          {layout.rows.map(({ name, lane, after, isDelegated }) => {
            const task = tasks.get(name)
            if (task === undefined) return null
            return (
              <li key={name}>
                <GraphTaskRow
                  task={task}
                  isHeld={held.has(name)}
                  isSelected={name === selected}
                  isTabStop={name === stop}
                  after={describePredecessors(after, isDelegated)}
                  markX={computeLaneX(lane, pitch)}
                  textX={computeLanesWidth(layout)}
                  onSelect={select}
                  onFocus={setFocused}
                />
              </li>
            )
          })}
        </ol>
      </div>
    </div>
  )
}

/** Returns the layout; the same object as long as the tasks and their dependencies are the same. */
function useLayout({ tasks, workflow }: RunState): GraphLayout {
  const key = useMemo(
    () => JSON.stringify(readTaskGraph({ tasks, ...(workflow === undefined ? {} : { workflow }) })),
    [tasks, workflow],
  )
  return useMemo(() => {
    // NOTE: the key is the JSON of this value.
    const structure = JSON.parse(key) as readonly GraphTask[]
    return layOutTasks(structure)
  }, [key])
}

/** Returns a stable function that calls the latest `call`. */
function useLatest<T>(call: (value: T) => void): (value: T) => void {
  const latest = useRef(call)
  useEffect(() => {
    latest.current = call
  })
  return useCallback((value: T) => latest.current(value), [])
}

function findButtons(list: HTMLElement): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[data-task]')]
}

function describePredecessors(after: readonly string[], isDelegated: boolean): string {
  if (after.length === 0) return ''
  return `, ${isDelegated ? 'works for' : 'depends on'} ${after.join(', ')}`
}

/**
 * Maximum distance, in pixels, between a scroll position set by code and one that still counts as
 * set by code.
 */
const SLACK = 2
/** Number of rows kept in view below the followed one. */
const AHEAD = 3

/**
 * Scrolls to the row of `taskName` when it changes. After the reader has scrolled, only if the
 * previous row was in view. Returns the scroll handler of the scrolling element.
 */
function useFollowing(
  scroller: RefObject<HTMLElement | null>,
  taskName: string | undefined,
): { readonly onScroll: () => void } {
  const follows = useRef(true)
  const placedAt = useRef(0)
  useEffect(() => {
    const element = scroller.current
    if (element === null || taskName === undefined || !follows.current) return
    const row = findRow(element, taskName)
    if (row === undefined) return
    const { offsetTop, offsetHeight } = row
    const { scrollTop, clientHeight } = element
    // Keep the next rows in view too: they often run at the same time, or will run soon.
    const below = Math.min(AHEAD * offsetHeight, clientHeight / 2)
    const isInPlace =
      offsetTop >= scrollTop && offsetTop + offsetHeight + below <= scrollTop + clientHeight
    if (!isInPlace) element.scrollTop = offsetTop - clientHeight / 3
    placedAt.current = element.scrollTop
  }, [scroller, taskName])
  const onScroll = useCallback(() => {
    const element = scroller.current
    if (element === null || Math.abs(element.scrollTop - placedAt.current) < SLACK) return
    const row = taskName === undefined ? undefined : findRow(element, taskName)
    follows.current = row !== undefined && isInSight(element, row)
  }, [scroller, taskName])
  return { onScroll }
}

function findRow(element: HTMLElement, taskName: string): HTMLElement | undefined {
  const rows = [...element.querySelectorAll<HTMLElement>('[data-task]')]
  return rows.find((row) => row.dataset['task'] === taskName)?.closest('li') ?? undefined
}

function isInSight({ scrollTop, clientHeight }: HTMLElement, row: HTMLElement): boolean {
  const { offsetTop, offsetHeight } = row
  return offsetTop + offsetHeight > scrollTop && offsetTop < scrollTop + clientHeight
}
