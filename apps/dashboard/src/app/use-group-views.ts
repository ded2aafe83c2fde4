/** Open groups of tasks, and the texts that readers search in them. */
import { useCallback, useMemo, useState } from 'react'

import {
  groupTasks,
  openGroupsAround,
  type GroupedTasks,
  type GroupView,
  type GroupViews,
} from '../api/task-groups.ts'

import type { RunState } from '@tutti/protocol'

interface Groups {
  readonly grouped: GroupedTasks
  readonly views: GroupViews
  readonly onView: (groupName: string, view: GroupView) => void
}

/** Returns the groups of a run. Those around the task `linked`, which a link leads to, open once it is known. */
export function useGroupViews({ tasks }: RunState, linked: string | undefined): Groups {
  const grouped = useMemo(() => groupTasks(tasks), [tasks])
  const [views, setViews] = useState<GroupViews>(new Map())
  const [opened, setOpened] = useState<string>()
  if (linked !== undefined && linked !== opened && grouped.groupOf.has(linked)) {
    setOpened(linked)
    setViews(openGroupsAround(grouped, views, linked))
  }
  const onView = useCallback(
    (name: string, view: GroupView) => setViews((before) => new Map(before).set(name, view)),
    [],
  )
  return { grouped, views, onView }
}
