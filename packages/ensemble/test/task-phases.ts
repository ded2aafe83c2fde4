/**
 * A reader of run events in its smallest form: what each task is doing, from the events alone. It
 * refuses a log that no reader could follow, so each test that uses it checks the order of events too.
 */
import type { TaskPhase } from '../src/next.ts'
import type { RunEvent } from '@tutti/protocol'

/** Phase of each task, by name, in the order of the plan. */
export type TaskPhases = ReadonlyMap<string, TaskPhase>

/**
 * The phase of each task after `events`.
 *
 * @throws {Error} when an event does not follow from those before it.
 */
export function phasesAfter(events: readonly RunEvent[]): TaskPhases {
  const reader = new Reader()
  for (const event of events) reader.read(event)
  return new Map([...reader.tasks].map(([name, { phase }]) => [name, phase]))
}

class Reader {
  readonly tasks = new Map<string, { phase: TaskPhase; attempt: number }>()
  #last: RunEvent['type'] | undefined

  read(event: RunEvent): void {
    this.#readRun(event)
    if ('taskName' in event && event.taskName !== undefined) this.#readTask(event.taskName, event)
    this.#last = event.type
  }

  #readRun(event: RunEvent): void {
    require(this.#last !== 'run_result', `${event.type} came after run_result`)
    if (event.type !== 'run_result') {
      require(this.#last !== 'ensemble_completed', `${event.type} came after ensemble_completed`)
    }
    if (event.type === 'ensemble_started') {
      require(this.tasks.size === 0, 'ensemble_started came twice')
      for (const { name } of event.tasks) this.tasks.set(name, { phase: 'pending', attempt: 0 })
    } else if (event.type === 'run_resumed') {
      for (const task of this.tasks.values()) {
        if (task.phase === 'running') task.phase = 'pending'
      }
    } else if (event.type === 'run_result') {
      require(this.#last === 'ensemble_completed', 'run_result came without ensemble_completed')
      for (const [name, { phase }] of this.tasks) {
        require(phase !== 'running' && phase !== 'pending', `task ${name} was left ${phase}`)
      }
    }
  }

  #readTask(taskName: string, event: RunEvent): void {
    const task = this.tasks.get(taskName)
    if (task === undefined) throw new Error(`${event.type} of the unknown task ${taskName}`)
    const where = `${event.type} of ${taskName}, which is ${task.phase}`
    if (event.type === 'task_started') {
      require(task.phase === 'pending', where)
      require(event.attempt === task.attempt + 1, `attempt ${event.attempt} in ${where}`)
      Object.assign(task, { phase: 'running', attempt: event.attempt })
    } else if (event.type === 'task_skipped') {
      require(task.phase === 'pending', where)
      task.phase = 'skipped'
    } else {
      require(task.phase === 'running', where)
      require('attempt' in event && event.attempt === task.attempt, `other attempt in ${where}`)
      if (event.type === 'task_completed') task.phase = 'completed'
      if (event.type === 'task_failed') task.phase = 'failed'
    }
  }
}

function require(condition: boolean, message: string): void {
  if (!condition) throw new Error(message)
}
