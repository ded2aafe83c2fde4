import { describe, expect, it } from 'vitest'
import {
  CaptureMode,
  isTerminalRunStatus,
  ReviewDecisionKind,
  RunPriority,
  RunStatus,
  Scope,
  TaskStatus,
  TERMINAL_RUN_STATUSES,
} from './enums.ts'
import { HandoffFilterName } from './rest/submit-run.ts'

describe('the enumerations of the wire', () => {
  it('The enumerations of the wire are pinned', () => {
    expect(RunStatus.enum).toEqual([
      'ACCEPTED',
      'RUNNING',
      'CANCELLING',
      'WAITING_REVIEW',
      'WAITING',
      'WAITING_FOR_BUILD',
      'COMPLETED',
      'FAILED',
      'CANCELLED',
      'REJECTED',
    ])
    expect(TaskStatus.enum).toEqual([
      'PENDING',
      'RUNNING',
      'COMPLETED',
      'FAILED',
      'SKIPPED',
      'CANCELLED',
    ])
    expect(Scope.enum).toEqual([
      'runs:read',
      'runs:write',
      'runs:control',
      'reviews:decide',
      'events:send',
      'tools:invoke',
      'admin',
    ])
    expect(CaptureMode.enum).toEqual(['OFF', 'STANDARD', 'DETAILED', 'FULL'])
    expect(HandoffFilterName.enum).toEqual(['all', 'withoutTools'])
    expect(RunPriority.enum).toEqual(['low', 'normal', 'high'])
    expect(ReviewDecisionKind.enum).toEqual(['CONTINUE', 'EDIT', 'EXIT_EARLY', 'REJECT'])
  })
})

describe('isTerminalRunStatus', () => {
  it('isTerminalRunStatus returns true exactly for the final statuses', () => {
    expect(RunStatus.enum.filter(isTerminalRunStatus)).toEqual([
      'COMPLETED',
      'FAILED',
      'CANCELLED',
      'REJECTED',
    ])
    expect(TERMINAL_RUN_STATUSES).toHaveLength(4)
  })
})
