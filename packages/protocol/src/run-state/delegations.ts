/** Delegations of a run, and the tasks that they add. */
import type { RunEventOf } from '../schemas/run-event.ts'
import type { DelegationState, RunState } from './run-state.ts'
import { createTask } from './task-state.ts'
import { addTask } from './tasks.ts'

export type DelegationEvent = RunEventOf<
  'delegation_started' | 'delegation_completed' | 'delegation_failed'
>

/** Returns the run after an event of a delegation. */
export function applyToDelegations(state: RunState, event: DelegationEvent): RunState {
  const delegations = applyToDelegationList(state.delegations, event)
  const next = { ...state, delegations }
  if (event.type !== 'delegation_started') return next
  const { workerTask: name, workerTaskIndex: index, delegationId, taskName } = event
  if (state.tasks.some((task) => task.name === name)) return next
  const { taskDescription: description, workerRole: agentRole } = event
  const delegatedBy = { taskName, delegationId }
  return addTask(
    next,
    createTask({ name, index, description, agentRole, context: [], delegatedBy }),
  )
}

function applyToDelegationList(
  delegations: readonly DelegationState[],
  event: DelegationEvent,
): readonly DelegationState[] {
  const at = delegations.findIndex(({ delegationId }) => delegationId === event.delegationId)
  const known = delegations[at]
  const delegation = { ...(known ?? createDelegation(event)), ...readChanges(event) }
  return known === undefined ? [...delegations, delegation] : delegations.with(at, delegation)
}

function readChanges(event: DelegationEvent): Partial<DelegationState> {
  switch (event.type) {
    case 'delegation_started': {
      const { taskDescription, workerTask, workerTaskIndex, depth, startedAt } = event
      const what = { taskDescription, workerTask, workerTaskIndex, depth }
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
