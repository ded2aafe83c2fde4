/** Pure: the tasks within a requested task, from which it makes tasks that it adds. */
import type { ReduceTaskBody, TaskDefinitionBody } from './schemas/rest/submit-run.ts'

/** A task within a requested task. */
export interface AddedTaskBody {
  /** JSON Pointer within the requested task. */
  readonly path: string
  readonly task: ReduceTaskBody
}

/** Returns the tasks within a requested task: the one that combines outputs, and the judge of its rounds. */
export function listAddedTasks({
  forEach,
  loop,
}: Pick<TaskDefinitionBody, 'forEach' | 'loop'>): readonly AddedTaskBody[] {
  const collect = forEach?.collect
  const until = loop?.until
  return [
    ...(typeof collect === 'object'
      ? [{ path: '/forEach/collect/reduce', task: collect.reduce }]
      : []),
    ...(typeof until === 'object' ? [{ path: '/loop/until/judge', task: until.judge }] : []),
  ]
}

/** Returns the requested task with changed tasks within it. */
export function changeAddedTasks<Body extends Pick<TaskDefinitionBody, 'forEach' | 'loop'>>(
  body: Body,
  change: (task: ReduceTaskBody) => ReduceTaskBody,
): Body {
  const { forEach, loop } = body
  const collect = forEach?.collect
  const until = loop?.until
  return {
    ...body,
    ...(typeof collect === 'object'
      ? { forEach: { ...forEach, collect: { ...collect, reduce: change(collect.reduce) } } }
      : {}),
    ...(typeof until === 'object'
      ? { loop: { ...loop, until: { judge: change(until.judge) } } }
      : {}),
  }
}
