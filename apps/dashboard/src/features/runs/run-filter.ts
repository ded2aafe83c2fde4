/** Pure: which runs a list shows, as the address, the server and the page say it. */
import type { QueryValues } from '../../lib/router.ts'
import type { ListRunsQuery, RunStatus, RunStatusList } from '@tutti/protocol'

/** The groups of statuses to choose from. */
export const RUN_GROUPS = {
  all: undefined,
  active: 'ACCEPTED,RUNNING,WAITING_REVIEW,CANCELLING',
  review: 'WAITING_REVIEW',
  completed: 'COMPLETED',
  failed: 'FAILED,REJECTED',
  cancelled: 'CANCELLED',
} as const satisfies Record<string, RunStatusList | undefined>

/** A group of statuses. */
export type RunGroup = keyof typeof RUN_GROUPS

/** Which runs a list shows: those that all of it is true of. */
export interface RunFilter {
  readonly group: RunGroup
  readonly ensemble?: string
  /** `key`, or `key:value`. */
  readonly tag?: string
  /** Start of the id, or a part of a tag or an input. */
  readonly text?: string
}

/** The longest text that the server looks for. */
export const MAX_TEXT_LENGTH = 200

/** The filter that the query of an address says; a group that is not known is all. */
export function filterOf({
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

/** The query of the address of a filter. */
export function filterQuery({ group, ensemble, tag, text }: RunFilter): QueryValues {
  return { status: group === 'all' ? undefined : group, ensemble, tag, q: text }
}

/** What the server is asked for. */
export function listQuery({ group, ensemble, tag, text }: RunFilter): ListRunsQuery {
  const status = RUN_GROUPS[group]
  return {
    ...(status === undefined ? {} : { status }),
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(tag === undefined ? {} : { tag }),
    ...(text === undefined ? {} : { q: text }),
  }
}

/** Whether everything is shown. */
export function isUnfiltered({ group, ensemble, tag, text }: RunFilter): boolean {
  return group === 'all' && ensemble === undefined && tag === undefined && text === undefined
}

/** Whether runs of this status are shown. */
export function fitsGroup({ group }: RunFilter, status: RunStatus): boolean {
  const list = RUN_GROUPS[group]
  return list === undefined || list.split(',').includes(status)
}

function isGroup(name: string): name is RunGroup {
  return Object.hasOwn(RUN_GROUPS, name)
}
