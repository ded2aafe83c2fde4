/** Pure: where a run stands, from its tasks and open reviews; as `RunState` of the protocol has it. */
import type { RunCourse, TaskCourse } from './run-list-line.ts'
import type { RunStatus } from '@tutti/protocol'

/** The status of a run that had another one before. */
export function statusFrom(before: RunStatus, course: RunCourse): RunStatus {
  if (before !== 'RUNNING' && before !== 'WAITING_REVIEW') return before
  return waitsForReview(course) ? 'WAITING_REVIEW' : 'RUNNING'
}

/** Whether a review is open and every task at work waits at one, or for workers that do. */
function waitsForReview({ gates, tasks }: RunCourse): boolean {
  if (gates.size === 0) return false
  const atGate = new Set(gates.values())
  const all = [...tasks.values()]
  const isBusy = ({ name, state }: TaskCourse): boolean => state === 'running' || atGate.has(name)
  const waits = ({ name }: TaskCourse): boolean =>
    atGate.has(name) || all.some((task) => task.delegatedBy === name && isBusy(task))
  return all.every((task) => task.state !== 'retrying' && (task.state !== 'running' || waits(task)))
}
