/** The filter of the list of runs, and its forms in the URL and in API queries. Pure. */
import { UNFINISHED_RUN_STATUS_LIST } from '@tutti/protocol/internal'

import type { QueryValues } from '../../lib/router.ts'
import type { ListRunsQuery, RunStatus } from '@tutti/protocol'
import type { RunStatusList } from '@tutti/protocol/internal'

/** Groups of statuses to choose from. */
export const RUN_GROUPS = {
  all: undefined,
  active: UNFINISHED_RUN_STATUS_LIST,
  review: 'WAITING_REVIEW',
  completed: 'COMPLETED',
  failed: 'FAILED,REJECTED',
  cancelled: 'CANCELLED',
} as const satisfies Record<string, RunStatusList | undefined>

export type RunGroup = keyof typeof RUN_GROUPS

/** A filter; all its conditions must match. */
export interface RunFilter {
  readonly group: RunGroup
  readonly ensemble?: string
  /** `key`, or `key:value`. */
  readonly tag?: string
  /** Start of the id, or part of a tag or an input. */
  readonly text?: string
}

/** Maximum length of a search text that the server accepts. */
export const MAX_TEXT_LENGTH = 200

/** Parses the query of a URL; an unknown group means all. */
export function parseRunFilter({
  status = 'all',
  ensemble,
  tag,
  q,
}: Readonly<Record<string, string>>): RunFilter {
  const text = q?.trim().slice(0, MAX_TEXT_LENGTH)
  return {
    group: isGroup(status) ? status : 'all',
    ...(ensemble === undefined || ensemble === '' ? {} : { ensemble }),
    ...(tag === undefined || tag === '' ? {} : { tag }),
    ...(text === undefined || text === '' ? {} : { text }),
  }
}

/** Returns the URL query of a filter. */
export function toFilterQuery({ group, ensemble, tag, text }: RunFilter): QueryValues {
  return { status: group === 'all' ? undefined : group, ensemble, tag, q: text }
}

/** Returns the API query of a filter. */
export function toListQuery({ group, ensemble, tag, text }: RunFilter): ListRunsQuery {
  const status = RUN_GROUPS[group]
  return {
    ...(status === undefined ? {} : { status }),
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(tag === undefined ? {} : { tag }),
    ...(text === undefined ? {} : { q: text }),
  }
}

/** Whether the filter matches every run. */
export function isUnfiltered({ group, ensemble, tag, text }: RunFilter): boolean {
  return group === 'all' && ensemble === undefined && tag === undefined && text === undefined
}

/** Whether the filter matches a status. */
export function matchesGroup({ group }: RunFilter, status: RunStatus): boolean {
  const list = RUN_GROUPS[group]
  return list === undefined || list.split(',').includes(status)
}

function isGroup(name: string): name is RunGroup {
  return Object.hasOwn(RUN_GROUPS, name)
}
