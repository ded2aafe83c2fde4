/**
 * Shows the tasks of a run and their dependencies: a row for each task, in the order in which they
 * can run, next to lanes that connect them. The tasks that a task has added are below it; many of
 * them form a group.
 */
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
} from 'react'

import { countStates, findHolds, isWithinGroup, readTaskKey } from '../../api/task-groups.ts'
import { isTextEntry } from '../../lib/is-text-entry.ts'
import { useLatest } from '../../lib/use-latest.ts'
import { labelTask } from '../../ui/labels.ts'
import { Empty } from '../../ui/feedback/notice.tsx'
import { findItemAfterKey, listGraphItems, readGroupGraph, type GraphItem } from './graph-items.ts'
import {
  computeLaneX,
  computeLanesWidth,
  computePitch,
  GraphLines,
  chooseLineTones,
  ROW,
} from './graph-lines.tsx'
import { GroupHeading, GroupSearch } from './group-row.tsx'
import { layOutTasks, type GraphLayout, type GraphTask } from './layout.ts'
import { GraphTaskRow } from './task-row.tsx'
import { useRowWindow, type RowWindow } from './use-row-window.ts'
import styles from './task-graph.module.css'

import type { RunState } from '@tutti/protocol'
import type { GroupedTasks, GroupView, GroupViews, Holds } from '../../api/task-groups.ts'
import type { MarkKind } from '../../ui/show/mark.tsx'

interface TaskGraphProps {
  readonly state: RunState
  readonly selected: string | undefined
  readonly onSelect: (taskName: string) => void
  readonly grouped: GroupedTasks
  readonly views: GroupViews
  readonly onView: (groupName: string, view: GroupView) => void
}

/** The graph; one task is selected. */
export function TaskGraph(props: TaskGraphProps) {
  const { state, selected, onSelect, grouped, views, onView } = props
  const layout = useLayout(grouped, state.workflow)
  const items = useMemo(() => listGraphItems(layout, grouped, views), [layout, grouped, views])
  const select = useLatest(onSelect)
  const holds = useMemo(() => findHolds(state.reviews), [state.reviews])
  const markOf = useMemo(() => createMarks(items, holds), [items, holds])
  const [focused, setFocused] = useState<string>()
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const rows = useRowWindow(scroller, list, items.length)
  const { first, end } = rows
  const indexOf = useMemo(() => new Map(items.map(({ key }, index) => [key, index])), [items])
  const followed = findFollowed(items, { markOf, selected, indexOf })
  const { onScroll } = useFollowing(scroller, rows, {
    key: followed,
    index: followed === undefined ? undefined : indexOf.get(followed),
  })
  const focusItem = useFocus(scroller, list, rows)
  if (items.length === 0) return <Empty title="No tasks yet" />
  const shown = items.slice(first, end)
  const stop = findTabStop(shown, [focused, selected])
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || isTextEntry(event.target)) return
    const index = stop === undefined ? undefined : indexOf.get(stop)
    if (index === undefined) return
    const next = findItemAfterKey(layout, items, { index, key: event.key })
    if (next === undefined) return
    event.preventDefault()
    focusItem(next)
  }
  return (
    <div
      ref={scroller}
      className={styles['graph']}
      onScroll={() => {
        rows.update()
        onScroll()
      }}
    >
      <div className={styles['sheet']}>
        <GraphLines
          layout={layout}
          tones={chooseLineTones(layout, { markOf, selected }).join(' ')}
          positions={items
            .flatMap(({ row }, index) => (row === undefined ? [] : [index]))
            .join(' ')}
          count={items.length}
        />
        <ol
          ref={list}
          aria-label="Tasks in order"
          onKeyDown={onKeyDown}
          style={{
            paddingBlockStart: `${first * ROW_REM}rem`,
            paddingBlockEnd: `${(items.length - end) * ROW_REM}rem`,
          }}
        >
          {shown.map((item, at) => (
            <li
              key={item.key}
              data-index={first + at}
              aria-setsize={items.length}
              aria-posinset={first + at + 1}
            >
              <GraphItemView
                {...{ item, layout, holds, selected, grouped, onView }}
                isTabStop={item.key === stop}
                onSelect={select}
                onFocus={setFocused}
              />
            </li>
          ))}
        </ol>
      </div>
    </div>
  )
}

interface GraphItemProps extends Pick<TaskGraphProps, 'grouped' | 'selected' | 'onView'> {
  readonly item: GraphItem
  readonly layout: GraphLayout
  readonly holds: Holds
  readonly isTabStop: boolean
  readonly onSelect: (taskName: string) => void
  readonly onFocus: (key: string) => void
}

/** A row of the list. */
function GraphItemView({ item, layout, holds, selected, isTabStop, ...props }: GraphItemProps) {
  const { key, row, content } = item
  const { grouped, onView, onSelect, onFocus } = props
  const drawn = row === undefined ? undefined : layout.rows[row]
  const lanesX = computeLanesWidth(layout)
  const indent = content.kind === 'task' && content.isNested ? INDENT : 0
  const textX = lanesX + (drawn === undefined ? INDENT : 0) + indent
  const markX =
    drawn === undefined ? lanesX + indent : computeLaneX(drawn.lane, computePitch(layout))
  if (content.kind === 'task') {
    const { task } = content
    const { after, isDelegated } = drawn ?? {
      after: [task.delegatedBy?.taskName ?? ''],
      isDelegated: true,
    }
    return (
      <GraphTaskRow
        {...{ task, isTabStop, markX, textX, onSelect, onFocus }}
        label={drawn === undefined ? readTaskKey(task) : task.name}
        hold={holds.get(task.name)}
        isSelected={task.name === selected}
        after={describePredecessors(after, isDelegated)}
      />
    )
  }
  const { group, view } = content
  if (content.kind === 'search') {
    const onSearch = (query: string): void => onView(group.name, { ...view, query })
    return <GroupSearch {...{ group, query: view.query, textX, onSearch }} />
  }
  return (
    <GroupHeading
      {...{ group, holds, isTabStop, markX, textX }}
      isOpen={view.isOpen}
      isSelected={!view.isOpen && selected !== undefined && isWithinGroup(grouped, selected, group)}
      onToggle={() => onView(group.name, { ...view, isOpen: !view.isOpen })}
      onFocus={() => onFocus(key)}
    />
  )
}

/** Returns the first of these keys that is in the page, else the first button. */
function findTabStop(
  shown: readonly GraphItem[],
  wanted: readonly (string | undefined)[],
): string | undefined {
  const buttons = shown.filter(({ content }) => content.kind !== 'search').map(({ key }) => key)
  return wanted.find((key) => key !== undefined && buttons.includes(key)) ?? buttons[0]
}

/** Returns the item to keep in view: the selected task of an open group, else the first one at work, else the selected one. */
function findFollowed(
  items: readonly GraphItem[],
  {
    markOf,
    selected,
    indexOf,
  }: {
    readonly markOf: (key: string) => MarkKind | undefined
    readonly selected: string | undefined
    readonly indexOf: ReadonlyMap<string, number>
  },
): string | undefined {
  const at = selected === undefined ? undefined : indexOf.get(selected)
  if (at !== undefined && items[at]?.row === undefined) return selected
  const active = items.find(({ key, row }) => {
    const mark = row === undefined ? undefined : markOf(key)
    return mark === 'held' || mark === 'live'
  })
  return active?.key ?? selected
}

const ROW_REM = ROW / 16

/** Distance of the tasks of a group from the text of its heading, in pixels. */
const INDENT = 16

/** Returns the mark of each row in the layout. */
function createMarks(
  items: readonly GraphItem[],
  holds: Holds,
): (name: string) => MarkKind | undefined {
  const marks = new Map<string, MarkKind | undefined>()
  for (const { key, row, content } of items) {
    if (row === undefined || content.kind === 'search') continue
    if (content.kind === 'task') {
      marks.set(key, labelTask(content.task, holds.get(key)).mark)
    } else {
      const found = countStates(content.group, holds).map(({ mark }) => mark)
      marks.set(
        key,
        found.find((mark) => mark === 'held' || mark === 'live'),
      )
    }
  }
  return (name) => marks.get(name)
}

/** Returns the layout; the same object as long as the tasks and their dependencies are the same. */
function useLayout(grouped: GroupedTasks, workflow: RunState['workflow']): GraphLayout {
  const key = useMemo(
    () => JSON.stringify(readGroupGraph(grouped, workflow === undefined ? {} : { workflow })),
    [grouped, workflow],
  )
  return useMemo(() => {
    // NOTE: the key is the JSON of this value.
    const structure = JSON.parse(key) as readonly GraphTask[]
    return layOutTasks(structure)
  }, [key])
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

/** Returns a function that focuses the button of an item, after it has come into the page. */
function useFocus(
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  { first, end, locate }: RowWindow,
): (index: number) => void {
  const [wanted, setWanted] = useState<number>()
  useLayoutEffect(() => {
    if (wanted === undefined) return
    const button = list.current?.querySelector<HTMLElement>(`[data-index="${wanted}"] button`)
    if (button === null || button === undefined) return
    button.focus()
    setWanted(undefined)
  }, [list, wanted, first, end])
  return (index) => {
    const element = scroller.current
    if (element !== null && (index < first || index >= end)) {
      element.scrollTop = locate(index).top - element.clientHeight / 3
    }
    setWanted(index)
  }
}

/**
 * Scrolls to the followed item when another one is followed. After the reader has scrolled, only if the
 * previous one was in view. Returns the scroll handler of the scrolling element.
 */
function useFollowing(
  scroller: RefObject<HTMLElement | null>,
  { locate }: RowWindow,
  { key, index }: { readonly key: string | undefined; readonly index: number | undefined },
): { readonly onScroll: () => void } {
  const follows = useRef(true)
  const placedAt = useRef(0)
  const scroll = useLatest(() => {
    const element = scroller.current
    if (element === null || index === undefined || !follows.current) return
    const { top, height } = locate(index)
    const { scrollTop, clientHeight } = element
    // Keep the next rows in view too: they often run at the same time, or will run soon.
    const below = Math.min(AHEAD * height, clientHeight / 2)
    const isInPlace = top >= scrollTop && top + height + below <= scrollTop + clientHeight
    if (!isInPlace) element.scrollTop = top - clientHeight / 3
    placedAt.current = element.scrollTop
  })
  useEffect(scroll, [scroll, key])
  const onScroll = useLatest(() => {
    const element = scroller.current
    if (element === null || Math.abs(element.scrollTop - placedAt.current) < SLACK) return
    follows.current = index !== undefined && isInSight(element, locate(index))
  })
  return { onScroll }
}

function isInSight(
  { scrollTop, clientHeight }: HTMLElement,
  { top, height }: { readonly top: number; readonly height: number },
): boolean {
  return top + height > scrollTop && top < scrollTop + clientHeight
}
