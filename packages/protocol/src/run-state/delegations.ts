/** Delegations of a run, and the tasks that they add. */
import type { RunEventOf } from '../schemas/run-event.ts'
import { findIndexByKey, type ListEditor } from './lists.ts'
import type { DelegationState, RunState } from './run-state.ts'
import { createTask, findTask } from './task-state.ts'
import { addTask, changeTask } from './tasks.ts'

export type DelegationEvent = RunEventOf<
  'delegation_started' | 'delegation_completed' | 'delegation_failed'
>

/** Returns the run after an event of a delegation. */
export function applyToDelegations(
  state: RunState,
  event: DelegationEvent,
  lists: ListEditor,
): RunState {
  const delegations = applyToDelegationList(state.delegations, event, lists)
  const changed = { ...state, delegations }
  if (event.type !== 'delegation_started') return changed
  const next = event.handoff === undefined ? changed : activateAgent(changed, event, lists)
  const { workerTask: name, workerTaskIndex: index, delegationId, taskName } = event
  if (findTask(state.tasks, name) !== undefined) return next
  const { taskDescription: description, workerRole: agentRole } = event
  const delegatedBy = { taskName, delegationId }
  return addTask(
    next,
    createTask({ name, index, description, agentRole, context: [], delegatedBy }),
    lists,
  )
}

/** Returns the run after a handoff: the agent is the active one of all tasks that had the conversation. */
function activateAgent(
  state: RunState,
  event: RunEventOf<'delegation_started'>,
  lists: ListEditor,
): RunState {
  const { workerRole: activeAgent, workerTask: activeTask } = event
  return listHolders(state, event).reduce(
    (changed, { taskName, attempt }) =>
      changeTask(changed, taskName, {
        change: (task) => (task.attempt === attempt ? { ...task, activeAgent, activeTask } : task),
        lists,
      }),
    state,
  )
}

/** Attempt at a task. */
type Attempt = Pick<DelegationState, 'taskName' | 'attempt'>

/** Returns the attempts that had a conversation, the last one first. */
function listHolders({ tasks, delegations }: RunState, last: Attempt): readonly Attempt[] {
  const holders: Attempt[] = [last]
  // The list grows while it is read.
  for (const { taskName } of holders) {
    const id = findTask(tasks, taskName)?.delegatedBy?.delegationId ?? ''
    const at = findIndexByKey(delegations, id, ({ delegationId }) => delegationId)
    const from = delegations[at]
    if (from?.handoff !== undefined) holders.push(from)
  }
  return holders
}

function applyToDelegationList(
  delegations: readonly DelegationState[],
  event: DelegationEvent,
  lists: ListEditor,
): readonly DelegationState[] {
  const at = findIndexByKey(delegations, event.delegationId, ({ delegationId }) => delegationId)
  const known = delegations[at]
  const delegation = { ...(known ?? createDelegation(event)), ...readChanges(event) }
  return known === undefined
    ? lists.append(delegations, delegation, delegation.delegationId)
    : lists.with(delegations, at, delegation)
}

function readChanges(event: DelegationEvent): Partial<DelegationState> {
  switch (event.type) {
    case 'delegation_started': {
      const { taskDescription, workerTask, workerTaskIndex, depth, startedAt, handoff } = event
      const how = handoff === undefined ? {} : { handoff }
      const what = { taskDescription, workerTask, workerTaskIndex, depth, ...how }
      return { status: 'RUNNING', ...what, startedAt }
    }
    case 'delegation_completed': {
      const { durationMs, completedAt } = event
      return { status: 'COMPLETED', durationMs, completedAt }
    }
    case 'delegation_failed': {
      const { reason, failedAt } = event
      return { status: 'FAILED', reason, completedAt: failedAt }
    }
  }
}

function createDelegation(event: DelegationEvent): DelegationState {
  const { delegationId, taskName, attempt, delegatingAgentRole, workerRole } = event
  return { delegationId, taskName, attempt, delegatingAgentRole, workerRole, status: 'RUNNING' }
}
