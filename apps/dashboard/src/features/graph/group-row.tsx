/** Shows the heading and the search field of a group of tasks. */
import { ChevronRight } from 'lucide-react'

import {
  countStates,
  formatStates,
  searchGroup,
  type Holds,
  type TaskGroup,
} from '../../api/task-groups.ts'
import { cx } from '../../lib/cx.ts'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import hidden from '../../ui/show/visually-hidden.module.css'
import styles from './task-graph.module.css'

interface GroupHeadingProps {
  readonly group: TaskGroup
  readonly holds: Holds
  readonly isOpen: boolean
  /** Whether a task of the folded group is selected. */
  readonly isSelected: boolean
  readonly isTabStop: boolean
  readonly markX: number
  readonly textX: number
  readonly onToggle: () => void
  readonly onFocus: () => void
}

/** The heading, which opens and folds the group. */
export function GroupHeading({ group, holds, isOpen, isSelected, ...props }: GroupHeadingProps) {
  const counts = countStates(group, holds)
  const states = formatStates(counts)
  return (
    <button
      type="button"
      data-group={group.name}
      aria-expanded={isOpen}
      tabIndex={props.isTabStop ? 0 : -1}
      title={states}
      className={cx(styles['row'], isSelected && styles['selected'])}
      style={{ paddingInlineStart: `${props.textX / 16}rem` }}
      onClick={props.onToggle}
      onFocus={props.onFocus}
    >
      <span className={styles['mark']} style={{ insetInlineStart: `${props.markX / 16}rem` }}>
        <Mark kind={counts[0]?.mark ?? 'queued'} />
      </span>
      <span className={styles['line1']}>
        <span className={styles['name']}>
          {`${group.tasks.length.toLocaleString('en-US')} tasks`}
          <span className={hidden['hidden']}>{` added by ${group.parent}, `}</span>
        </span>
        <ChevronRight aria-hidden className={styles['sign']} />
      </span>
      <span className={styles['line2']}>
        <span className={styles['role']}>{states}</span>
      </span>
    </button>
  )
}

/** The field that searches the keys of an open group. */
export function GroupSearch({
  group,
  query,
  textX,
  onSearch,
}: {
  readonly group: TaskGroup
  readonly query: string
  readonly textX: number
  readonly onSearch: (query: string) => void
}) {
  return (
    <div className={styles['search']} style={{ paddingInlineStart: `${textX / 16}rem` }}>
      <TextInput
        type="search"
        aria-label={`Search the tasks of ${group.parent} by key`}
        placeholder="Search by key"
        value={query}
        onChange={({ target }) => onSearch(target.value)}
      />
      <span role="status" className={styles['found']}>
        {query.trim() !== '' && `${searchGroup(group, query).length.toLocaleString('en-US')} found`}
      </span>
    </div>
  )
}
