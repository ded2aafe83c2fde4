/**
 * The tasks of a run and what each waits for: a row for each task, from top to bottom in the order in
 * which they can run, beside lanes that show what leads to what.
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
import { laneX, lanesWidth, pitchOf, GraphLines, lineTones } from './graph-lines.tsx'
import { layoutOf, type GraphLayout, rowAfterKey, structureOf, type GraphTask } from './layout.ts'
import { heldTasks } from './task-facts.ts'
import { GraphTaskRow } from './task-row.tsx'
import styles from './task-graph.module.css'

import type { RunState } from '@tutti/protocol'

/** The graph; one task is selected. */
export function TaskGraph({
  state,
  selected,
  onSelect,
}: {
  readonly state: RunState
  readonly selected: string | undefined
  readonly onSelect: (taskName: string) => void
}) {
  const layout = useLayout(state)
  const select = useLatest(onSelect)
  const held = useMemo(() => heldTasks(state.reviews), [state.reviews])
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
    const next = rowAfterKey(layout, row, event.key)
    if (next === undefined) return
    event.preventDefault()
    buttonsIn(event.currentTarget)[next]?.focus()
  }
  const pitch = pitchOf(layout)
  return (
    <div ref={scroller} className={styles['graph']} onScroll={onScroll}>
      <div className={styles['sheet']}>
        <GraphLines
          layout={layout}
          tones={lineTones(layout, { tasks, held, selected }).join(' ')}
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
                  after={afterWords(after, isDelegated)}
                  markX={laneX(lane, pitch)}
                  textX={lanesWidth(layout)}
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

/** The layout; the same for as long as the tasks and what leads to them are the same. */
function useLayout({ tasks, workflow }: RunState): GraphLayout {
  const key = useMemo(
    () => JSON.stringify(structureOf({ tasks, ...(workflow === undefined ? {} : { workflow }) })),
    [tasks, workflow],
  )
  return useMemo(() => {
    // NOTE: the key is the text of this very value.
    const structure = JSON.parse(key) as readonly GraphTask[]
    return layoutOf(structure)
  }, [key])
}

/** The same function for good, which calls the newest one. */
function useLatest<T>(call: (value: T) => void): (value: T) => void {
  const latest = useRef(call)
  useEffect(() => {
    latest.current = call
  })
  return useCallback((value: T) => latest.current(value), [])
}

function buttonsIn(list: HTMLElement): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[data-task]')]
}

function afterWords(after: readonly string[], isDelegated: boolean): string {
  if (after.length === 0) return ''
  return `, ${isDelegated ? 'works for' : 'waits for'} ${after.join(', ')}`
}

/** How far a scroll may be from where it was put and still not be the reader's, in pixels. */
const SLACK = 2
/** Rows that are in sight below the one that is followed. */
const AHEAD = 3

/**
 * Brings the button of `taskName` into sight when it becomes another one; once the reader has scrolled,
 * only when that row was in sight until then. Gives what the scrolling element is to be told.
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
    const row = rowIn(element, taskName)
    if (row === undefined) return
    const { offsetTop, offsetHeight } = row
    const { scrollTop, clientHeight } = element
    // What comes next is in sight too: it runs often at the same time, or is about to.
    const below = Math.min(AHEAD * offsetHeight, clientHeight / 2)
    const isInPlace =
      offsetTop >= scrollTop && offsetTop + offsetHeight + below <= scrollTop + clientHeight
    if (!isInPlace) element.scrollTop = offsetTop - clientHeight / 3
    placedAt.current = element.scrollTop
  }, [scroller, taskName])
  const onScroll = useCallback(() => {
    const element = scroller.current
    if (element === null || Math.abs(element.scrollTop - placedAt.current) < SLACK) return
    const row = taskName === undefined ? undefined : rowIn(element, taskName)
    follows.current = row !== undefined && isInSight(element, row)
  }, [scroller, taskName])
  return { onScroll }
}

function rowIn(element: HTMLElement, taskName: string): HTMLElement | undefined {
  const rows = [...element.querySelectorAll<HTMLElement>('[data-task]')]
  return rows.find((row) => row.dataset['task'] === taskName)?.closest('li') ?? undefined
}

function isInSight({ scrollTop, clientHeight }: HTMLElement, row: HTMLElement): boolean {
  const { offsetTop, offsetHeight } = row
  return offsetTop + offsetHeight > scrollTop && offsetTop < scrollTop + clientHeight
}
