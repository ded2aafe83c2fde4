/** The work of one task, turn by turn. */
import { memo, useCallback, useDeferredValue, useState } from 'react'

import { Empty } from '../../ui/feedback/notice.tsx'
import { EarlierAttempt } from './earlier-attempt.tsx'
import { TaskHead } from './task-head.tsx'
import { Work } from './work.tsx'

import type { Selection } from '../../api/selection.ts'
import type { RunState } from '@tutti/protocol'

interface TranscriptProps {
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
}

/**
 * The transcript of the selected task. When more comes than can be drawn, as while a long run is read, it
 * leaves out what lies between and the rest of the page goes on.
 */
export function TaskTranscript({ state, ...rest }: TranscriptProps) {
  return <Transcript state={useDeferredValue(state)} {...rest} />
}

const Transcript = memo(function Transcript({ state, selection, onSelect }: TranscriptProps) {
  /** The earlier attempt that is looked at. */
  const [shown, setShown] = useState<{ readonly task: string; readonly attempt: number }>()
  const openTask = useCallback((taskName: string) => onSelect({ taskName }), [onSelect])
  const task = state.tasks.find(({ name }) => name === selection?.taskName)
  if (task === undefined) {
    return <Empty title="No task yet">The tasks of a run are known when it begins.</Empty>
  }
  const earlier = task.earlierAttempts.find(
    ({ attempt }) => shown?.task === task.name && shown.attempt === attempt,
  )
  const gates = state.gates.filter(({ taskName }) => taskName === task.name)
  return (
    <>
      <TaskHead
        task={task}
        isHeld={gates.some(({ status }) => status === 'OPEN')}
        attempt={earlier?.attempt ?? task.attempt}
        onAttempt={(attempt) => setShown({ task: task.name, attempt })}
      />
      {earlier === undefined ? (
        <Work
          // What is unfolded, and where one has scrolled to, is of one attempt.
          key={`${task.name} ${task.attempt}`}
          task={task}
          state={state}
          selection={selection}
          onSelect={onSelect}
          onOpenTask={openTask}
        />
      ) : (
        <EarlierAttempt attempt={earlier} gates={gates} />
      )}
    </>
  )
})
