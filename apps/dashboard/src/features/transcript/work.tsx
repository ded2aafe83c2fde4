/** The rows of one attempt of a task. */
import { useCallback, useMemo, useState } from 'react'

import { FoldMemory, newFolds } from '../../ui/layout/fold.tsx'
import { GrowingList } from '../../ui/layout/growing-list.tsx'
import { CallRow } from './call-row.tsx'
import { DelegationRow } from './delegation-row.tsx'
import { EndRow } from './end-row.tsx'
import { GateRow } from './gate-row.tsx'
import { GivenRow } from './given-row.tsx'
import { SwitchRow } from './switch-row.tsx'
import {
  agentsByCall,
  directivesByTurn,
  transcriptRows,
  type TranscriptRow,
} from './transcript-rows.ts'
import { TurnRow } from './turn-row.tsx'
import { chosenKey, useReveal } from './use-reveal.ts'

import type { Selection } from '../../api/selection.ts'
import type { RunState, TaskState } from '@tutti/protocol'
import type { ReactNode } from 'react'

/** Heights of rows as they mostly are, in pixels; each is measured when it is in sight. */
const HEIGHTS: Readonly<Record<TranscriptRow['kind'], number>> = {
  given: 41,
  gate: 60,
  switch: 28,
  turn: 108,
  call: 24,
  delegation: 28,
  end: 90,
}

/** What a task did, followed while it is at work. */
export function Work({
  task,
  state,
  selection,
  onSelect,
  onOpenTask,
}: {
  readonly task: TaskState
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
  readonly onOpenTask: (taskName: string) => void
}) {
  const [folds] = useState(newFolds)
  const { gates, delegations } = state
  const rows = useMemo(
    () => transcriptRows(task, { gates, delegations }),
    [task, gates, delegations],
  )
  const { name, attempt } = task
  const directives = useMemo(
    () => directivesByTurn({ name, attempt }, state.directives),
    [name, attempt, state.directives],
  )
  const agents = useMemo(() => agentsByCall(task.agentCalls), [task.agentCalls])
  const chosen = chosenKey(selection)
  const reveal = useReveal(rows, chosen)
  const choose = useCallback(
    (iterationIndex: number) => onSelect({ taskName: name, iterationIndex }),
    [name, onSelect],
  )
  const content = (row: TranscriptRow): ReactNode => {
    switch (row.kind) {
      case 'given':
        return <GivenRow task={task} onOpen={onOpenTask} />
      case 'gate':
        return <GateRow gate={row.gate} />
      case 'switch':
        return <SwitchRow from={row.from} to={row.to} />
      case 'turn':
        return (
          <TurnRow
            turn={row.turn}
            directives={directives.get(row.turn.iterationIndex)}
            isChosen={row.key === chosen}
            onChoose={choose}
          />
        )
      case 'call':
        return (
          <CallRow name={row.key} call={row.call} agents={agents} isChosen={row.key === chosen} />
        )
      case 'delegation':
        return <DelegationRow delegation={row.delegation} onOpen={onOpenTask} />
      case 'end':
        return <EndRow task={task} />
    }
  }
  return (
    <FoldMemory value={folds}>
      <GrowingList
        items={rows}
        keyOf={({ key }) => key}
        estimate={({ kind }) => HEIGHTS[kind]}
        label={`Work of ${name}`}
        isGrowing={task.status === 'RUNNING'}
        reveal={reveal}
      >
        {content}
      </GrowingList>
    </FoldMemory>
  )
}
