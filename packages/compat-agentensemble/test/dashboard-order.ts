/**
 * Checks the order of one run's messages, and that its totals are the sums of its parts.
 *
 *   ensemble_started ─▶ per task: [BEFORE review] task_started ─▶ task_input ─▶ turns ─▶ [AFTER review]
 *     ─▶ task_completed | task_attempt_failed | task_failed ─▶ ensemble_completed ─▶ run_result
 *   turn: llm_iteration_started ─▶ token … ─▶ llm_iteration_completed ─▶ tool_called …
 */
import type { LoggedRunEvent } from '@tutti/protocol'

interface TaskSeen {
  open: boolean
  hasInput: boolean
  /** The current turn. */
  turn: number | undefined
  turns: number
  tools: number
  readonly name: string
}

interface Seen {
  stage: 'before' | 'running' | 'completed' | 'over'
  totalTasks: number
  tokens: number
  tools: number
  readonly tasks: Map<number, TaskSeen>
  readonly problems: string[]
}

/** Returns the problems of the complete events of one run. */
export function orderProblems(events: readonly LoggedRunEvent[]): readonly string[] {
  const seen: Seen = {
    stage: 'before',
    totalTasks: 0,
    tokens: 0,
    tools: 0,
    tasks: new Map(),
    problems: [],
  }
  for (const event of events) {
    const wrong = seeRun(seen, event) ?? seeTask(seen, event)
    if (wrong !== undefined) seen.problems.push(`${event.seq} ${event.type}: ${wrong}`)
  }
  if (seen.stage !== 'over') seen.problems.push(`it ended as ${seen.stage}`)
  return seen.problems
}

function seeRun(seen: Seen, event: LoggedRunEvent): string | undefined {
  switch (event.type) {
    case 'ensemble_started': {
      const wrong = seen.stage === 'before' ? undefined : 'a second start'
      seen.stage = 'running'
      seen.totalTasks = event.totalTasks
      return wrong
    }
    case 'ensemble_completed': {
      const open = [...seen.tasks.values()].filter((task) => task.open)
      seen.stage = 'completed'
      if (open.length > 0) return `open tasks: ${open.map(({ name }) => name).join()}`
      if (event.totalTokens !== seen.tokens)
        return `${event.totalTokens} tokens, not ${seen.tokens}`
      return event.totalToolCalls === seen.tools ? undefined : `${event.totalToolCalls} tool calls`
    }
    case 'run_result': {
      const wrong = seen.stage === 'completed' ? undefined : 'before ensemble_completed'
      seen.stage = 'over'
      return wrong
    }
    default:
      return undefined
  }
}

function seeTask(seen: Seen, event: LoggedRunEvent): string | undefined {
  if (!('taskIndex' in event) || event.type === 'task_skipped') return undefined
  if (seen.stage !== 'running') return `while the run was ${seen.stage}`
  const task = seen.tasks.get(event.taskIndex)
  if (event.type === 'task_started') return start(seen, event)
  if (event.type === 'review_requested' && event.timing === 'BEFORE_EXECUTION') {
    return task?.open === true ? 'after task_started' : undefined
  }
  if (task === undefined || !task.open) return 'of a task that is not open'
  if ('taskName' in event && event.taskName !== task.name) return `number of ${task.name}`
  if (isEnd(event)) return end(seen, event, task)
  return checkWork(task, event)
}

type EndOfAttempt = LoggedRunEvent & {
  readonly type: 'task_completed' | 'task_attempt_failed' | 'task_failed'
}

function isEnd(event: LoggedRunEvent): event is EndOfAttempt {
  return ['task_completed', 'task_attempt_failed', 'task_failed'].includes(event.type)
}

function start(
  seen: Seen,
  event: LoggedRunEvent & { readonly type: 'task_started' },
): string | undefined {
  const { taskIndex, totalTasks, taskName: name } = event
  const known = seen.tasks.get(taskIndex)
  const task = { open: true, hasInput: false, turn: undefined, turns: 0, tools: 0, name }
  seen.tasks.set(taskIndex, task)
  seen.totalTasks = Math.max(seen.totalTasks, totalTasks)
  if (known !== undefined && (known.open || known.name !== name)) return 'number is taken'
  return taskIndex >= 1 && taskIndex <= seen.totalTasks
    ? undefined
    : `${taskIndex} of ${totalTasks}`
}

function end(seen: Seen, event: EndOfAttempt, task: TaskSeen): string | undefined {
  task.open = false
  seen.tools += event.toolCallCount
  seen.tokens += event.inputTokens + event.outputTokens
  if (event.toolCallCount !== task.tools) return `${event.toolCallCount} tool calls`
  if (event.type !== 'task_completed') return undefined
  const { tokenCount, inputTokens, outputTokens } = event
  if (tokenCount !== inputTokens + outputTokens) return `${tokenCount} tokens`
  return task.turn === undefined ? undefined : 'while a turn was under way'
}

function checkWork(task: TaskSeen, event: LoggedRunEvent): string | undefined {
  switch (event.type) {
    case 'task_input': {
      const wrong = task.hasInput || task.turns > 0 ? 'not before the first turn' : undefined
      task.hasInput = true
      return wrong
    }
    case 'llm_iteration_started': {
      const { iterationIndex, messages, totalMessageCount } = event
      task.turn = iterationIndex
      if (!task.hasInput) return 'before task_input'
      if (iterationIndex !== task.turns) return `turn ${iterationIndex}, not ${task.turns}`
      const isWhole = messages.length === Math.min(20, totalMessageCount)
      return isWhole ? undefined : `${messages.length} of ${totalMessageCount} messages`
    }
    case 'token':
      return task.turn === undefined ? 'outside of a turn' : undefined
    case 'llm_iteration_completed': {
      const wrong = task.turn === event.iterationIndex ? undefined : 'of another turn'
      task.turn = undefined
      task.turns += 1
      return wrong
    }
    case 'tool_called':
      task.tools += 1
      return task.turn === undefined ? undefined : 'within a turn'
    default:
      return undefined
  }
}
