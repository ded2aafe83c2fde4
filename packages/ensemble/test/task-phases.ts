/**
 * A minimal reader of run events: it determines the phase of each task from the events alone. It rejects an
 * inconsistent log, so each test also checks the order of events.
 */
import type { TaskPhase } from '../src/definition/schedule.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** Phase of each task by name, in the order of the plan; delegated tasks in the order of their start. */
export type TaskPhases = ReadonlyMap<string, TaskPhase>

/**
 * Returns the phase of each task after `events`. A replay does not repeat failed attempts.
 *
 * @throws {Error} if an event does not follow from those before it.
 */
export function readPhasesAfter(
  events: readonly RunEvent[],
  { isReplay = false }: { readonly isReplay?: boolean } = {},
): TaskPhases {
  const reader = new Reader(isReplay)
  for (const event of events) reader.read(event)
  return new Map([...reader.tasks].map(([name, { phase }]) => [name, phase]))
}

interface ReadTask {
  phase: TaskPhase
  attempt: number
  /** Whether its last attempt failed and another one follows. */
  willRetry: boolean
  turn: ReadTurn
}

/** Turns of one attempt: those before `next` are answered, and the next one may be in flight. */
interface ReadTurn {
  next: number
  open: boolean
}

interface ReadReview {
  readonly taskName: string
  readonly timing: RunEventOf<'review_requested'>['timing']
  open: boolean
}

interface ReadDelegation {
  readonly workerTask: string
  readonly delegator: string
  open: boolean
}

class Reader {
  readonly tasks = new Map<string, ReadTask>()
  readonly #reviews = new Map<string, ReadReview>()
  readonly #delegations = new Map<string, ReadDelegation>()
  readonly #directives = new Set<string>()
  #last: RunEvent['type'] | undefined
  readonly #isReplay: boolean
  #isFork = false

  constructor(isReplay: boolean) {
    this.#isReplay = isReplay
  }

  read(event: RunEvent): void {
    this.#readRun(event)
    this.#readReview(event)
    this.#readDelegation(event)
    this.#readDirective(event)
    if (isOfTask(event)) this.#readTask(event)
    this.#last = event.type
  }

  #readRun(event: RunEvent): void {
    require(this.#last !== 'run_result', `${event.type} came after run_result`)
    this.#isFork ||= event.type === 'run_forked'
    if (event.type !== 'run_result' && event.type !== 'run_resumed') {
      require(this.#last !== 'ensemble_completed', `${event.type} came after ensemble_completed`)
    }
    if (event.type === 'ensemble_started') {
      require(this.#last === undefined, 'ensemble_started was not the first event')
      for (const { name } of event.tasks) this.#add(name)
    } else if (event.type === 'run_resumed') {
      require(this.tasks.size > 0, 'run_resumed came before the run began')
      const completed = [...this.tasks].filter(([, { phase }]) => phase === 'completed')
      require(String(completed.map(([name]) => name).toSorted()) ===
        String(
          event.completedTasks.toSorted(),
        ), `run_resumed lists ${event.completedTasks.join(', ')} as completed`)
      for (const { turn } of this.tasks.values()) turn.open = false
    } else if (event.type === 'run_result') this.#readResult()
  }

  #readResult(): void {
    require(this.#last === 'ensemble_completed', 'run_result came without ensemble_completed')
    for (const [name, { phase, willRetry }] of this.tasks) {
      require(phase !== 'running' && phase !== 'pending', `task ${name} was left ${phase}`)
      require(!willRetry, `task ${name} was left between two attempts`)
    }
    for (const [id, { open }] of this.#reviews) require(!open, `review ${id} was left open`)
    for (const [id, { open }] of this.#delegations) require(!open, `delegation ${id} was left open`)
  }

  #readReview(event: RunEvent): void {
    switch (event.type) {
      case 'review_requested': {
        const { reviewId, taskName, timing } = event
        require(!this.#reviews.has(reviewId), `review ${reviewId} opened twice`)
        this.#reviews.set(reviewId, { taskName, timing, open: true })
        return
      }
      case 'review_decided':
      case 'review_timed_out':
      case 'review_withdrawn': {
        const review = this.#reviews.get(event.reviewId)
        require(review?.open === true, `${event.type} of a review that is not open`)
        if (review !== undefined) review.open = false
        return
      }
      default:
    }
  }

  #readDelegation(event: RunEvent): void {
    if (event.type === 'delegation_started') {
      const { delegationId, workerTask, taskName: delegator } = event
      require(!this.#delegations.has(delegationId), `delegation ${delegationId} began twice`)
      this.#delegations.set(delegationId, { workerTask, delegator, open: true })
      const worker = this.tasks.get(workerTask) ?? this.#add(workerTask)
      require(worker.phase === 'pending', `a delegation to ${workerTask}, which is ${worker.phase}`)
    } else if (event.type === 'delegation_completed' || event.type === 'delegation_failed') {
      const delegation = this.#delegations.get(event.delegationId)
      if (delegation === undefined) {
        require(event.type === 'delegation_failed', 'a delegation completed that never began')
        return
      }
      require(delegation.open, `delegation ${event.delegationId} ended twice`)
      require(event.workerTask === delegation.workerTask, 'a delegation changed its task')
      delegation.open = false
      const worker = this.tasks.get(delegation.workerTask)
      const isFit = event.type === 'delegation_completed' ? ['completed'] : ['failed', 'pending']
      require(isFit.includes(worker?.phase ?? ''), `${event.type} while it is ${worker?.phase}`)
    }
  }

  #readDirective(event: RunEvent): void {
    if (event.type === 'directive_active') {
      require(!this.#directives.has(event.directiveId), 'a directive was taken up twice')
      this.#directives.add(event.directiveId)
    } else if (event.type === 'directive_delivered') {
      require(this.#directives.has(event.directiveId), 'an unknown directive was delivered')
    }
  }

  #readTask(event: EventOfTask): void {
    const { taskName } = event
    const task = this.tasks.get(taskName)
    if (task === undefined) throw new Error(`${event.type} of the unknown task ${taskName}`)
    const where = `${event.type} of ${taskName}, which is ${task.phase}`
    if (event.type === 'task_started') {
      require(task.phase === 'pending' || task.willRetry, where)
      const isNext = event.attempt === task.attempt + 1
      const isFirst = this.#isReplay && task.phase === 'pending'
      require(isNext || isFirst, `attempt ${event.attempt} in ${where}`)
      Object.assign(task, { phase: 'running', attempt: event.attempt, willRetry: false })
      task.turn = { next: 0, open: false }
    } else if (event.type === 'task_skipped') {
      require(task.phase === 'pending', where)
      task.phase = 'skipped'
    } else if (event.type === 'review_requested' && event.timing === 'BEFORE_EXECUTION') {
      require(this.#isBefore(task, event.attempt), where)
    } else {
      require(task.phase === 'running', where)
      require(event.attempt === task.attempt, `attempt ${event.attempt} in ${where}`)
      readTurn(event, task.turn, where)
      if (isEnd(event)) this.#end(task, event)
    }
  }

  /** Whether the task can be reviewed before it continues with an attempt. */
  #isBefore({ phase, attempt, willRetry }: ReadTask, next: number): boolean {
    if (phase === 'pending') return next === 1
    return this.#isFork && (willRetry ? next === attempt + 1 : phase === 'running')
  }

  #end(task: ReadTask, event: EndOfAttempt): void {
    const { taskName } = event
    require(event.type !== 'task_failed' ||
      !event.willRetry, `${taskName} failed for good, and is retried`)
    for (const review of this.#reviews.values()) {
      require(!(
        review.open && review.taskName === taskName
      ), `${taskName} ended with an open review`)
    }
    for (const { open, delegator, workerTask } of this.#delegations.values()) {
      require(!(open && delegator === taskName), `${taskName} ended before ${workerTask}`)
    }
    task.phase = event.type === 'task_completed' ? 'completed' : 'failed'
    task.willRetry = event.type === 'task_attempt_failed'
  }

  #add(name: string): ReadTask {
    const task: ReadTask = {
      phase: 'pending',
      attempt: 0,
      willRetry: false,
      turn: { next: 0, open: false },
    }
    this.tasks.set(name, task)
    return task
  }
}

type EndOfAttempt = RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>

function isEnd(event: RunEvent): event is EndOfAttempt {
  return ['task_completed', 'task_attempt_failed', 'task_failed'].includes(event.type)
}

type EventOfTask = Exclude<
  Extract<RunEvent, { readonly taskName: string }>,
  RunEventOf<'model_switched'>
>

/** Whether the event belongs to a task; a switch names a task but does not belong to it. */
function isOfTask(event: RunEvent): event is EventOfTask {
  return 'taskName' in event && event.taskName !== undefined && event.type !== 'model_switched'
}

/**
 * Checks that a turn begins only when the previous one is answered, and again only after a failure or an
 * interruption.
 */
function readTurn(event: EventOfTask, turn: ReadTurn, where: string): void {
  switch (event.type) {
    case 'llm_iteration_started':
      require(!turn.open && event.iterationIndex === turn.next, `another turn in ${where}`)
      turn.open = true
      return
    case 'reasoning':
    case 'token':
      require(turn.open && event.iterationIndex === turn.next, `no such turn in ${where}`)
      return
    case 'llm_iteration_completed':
      require(turn.open && event.iterationIndex === turn.next, `no such turn in ${where}`)
      Object.assign(turn, { next: turn.next + 1, open: false })
      return
    case 'llm_iteration_failed':
      require(event.iterationIndex === turn.next, `no such turn in ${where}`)
      turn.open = false
      return
    case 'task_completed':
      require(!turn.open, `an open turn in ${where}`)
      return
    default:
  }
}

function require(condition: boolean, message: string): void {
  if (!condition) throw new Error(message)
}
