/**
 * What people ask of a run in flight: to end, to use another model, to tell the agents something. Each
 * wish is an event and a step, so that readers see it and a resumed run keeps it.
 *
 * S1 A cancel stops what is in flight through one tree of signals; in mode `boundary` the tasks that run
 *    finish, and no other starts.
 * S2 A switch counts from the next model call on, for the run or for one task; the last one counts.
 * S3 A wish that comes when the run is over, or does not fit it, is refused and changes nothing.
 */
import { isoNow, TuttiError, type Clock } from '@tutti/core'

import {
  directive,
  type Directive,
  type DirectiveInput,
  type Directives,
} from '../steering/directives.ts'

import type { ChatModel } from '../model/chat-model.ts'
import type { RunJournal } from '../ports/run-journal.ts'
import type { RunStep } from '../ports/run-step.ts'
import type { Gates } from '../steering/gates.ts'
import type { ModelSwitches, NamedModel } from '../steering/models.ts'
import type { CancelOptions, ModelSwitch } from './run-handle.ts'
import type { Stopwatch } from './stopwatch.ts'
import type { CancelMode } from '@tutti/protocol'

/** What steering works on. */
export interface SteeringOptions {
  readonly runId: string
  readonly clock: Clock
  readonly journal: Pick<RunJournal, 'emit'>
  readonly stopwatch: Pick<Stopwatch, 'elapsed'>
  readonly switches: ModelSwitches
  /** The model that answers when nobody switches: of one task, or of all tasks when they have one. */
  readonly ownModel: (taskName: string | undefined) => ChatModel | undefined
  readonly directives: Directives
  readonly gates: Pick<Gates, 'closeBefore'>
  /** Names of the tasks of the run. */
  readonly taskNames: () => readonly string[]
  /** Roles of the agents of the run. */
  readonly roles: () => readonly string[]
}

/** The wishes that a run has taken. */
export class Steering {
  readonly #options: SteeringOptions
  readonly #controller = new AbortController()
  #cancelMode: CancelMode | undefined
  #over = false

  constructor(options: SteeringOptions) {
    this.#options = options
  }

  /** Aborts when all work is to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** How the run was asked to end; undefined when it was not. */
  get cancelMode(): CancelMode | undefined {
    return this.#cancelMode
  }

  /** Whether no task may start any more. */
  get stopsStarting(): boolean {
    return this.#cancelMode !== undefined || this.signal.aborted
  }

  /** Takes no wish from now on. */
  close(): void {
    this.#over = true
  }

  /** Stops all work for a reason that is no cancel, such as a used-up budget. */
  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** Takes up what was asked of an earlier process. */
  restore(steps: readonly RunStep[]): void {
    for (const step of steps) {
      if (step.kind === 'directive_taken') this.#options.directives.add(step.directive)
      if (step.kind === 'model_switched') {
        this.#options.switches.switch(this.#options.switches.resolve(step.model), step.taskName)
      }
      if (step.kind === 'cancel_asked') this.#cancelNow(step.mode, undefined)
    }
  }

  /** Asks the run to end; see `RunHandle.cancel`. */
  cancel({ mode = 'abort', actor }: CancelOptions = {}, reason?: unknown): boolean {
    if (this.#over) return false
    if (this.#cancelMode === undefined || (mode === 'abort' && this.#cancelMode === 'boundary')) {
      const { clock, journal, stopwatch } = this.#options
      journal.emit(
        {
          type: 'run_cancelling',
          requestedAt: isoNow(clock),
          mode,
          ...(actor === undefined ? {} : { actor }),
        },
        { kind: 'cancel_asked', mode, runMs: stopwatch.elapsed() },
      )
      this.#cancelNow(mode, reason)
    }
    return true
  }

  /** Switches the run, or one task, to another model; see `RunHandle.switchModel`. */
  switchModel(
    model: string | ChatModel,
    { task: taskName, actor }: { readonly task?: string; readonly actor?: string } = {},
  ): ModelSwitch {
    this.#assertRunning()
    const { switches, clock, journal, stopwatch, taskNames } = this.#options
    if (taskName !== undefined && !taskNames().includes(taskName)) {
      const known = taskNames().join(', ')
      throw new TuttiError(
        'BAD_REQUEST',
        `Cannot switch the model: no task is named "${taskName}". Available: [${known}]`,
      )
    }
    const to = switches.resolve(model)
    const previous = switches.switch(to, taskName) ?? this.#ownModel(taskName)
    const ofTask = taskName === undefined ? {} : { taskName }
    const switched: ModelSwitch = {
      model: to.label,
      ...(previous === undefined ? {} : { previousModel: previous.label }),
    }
    const by = actor === undefined ? {} : { actor }
    journal.emit(
      { type: 'model_switched', ...switched, ...ofTask, switchedAt: isoNow(clock), ...by },
      { kind: 'model_switched', model: to.label, ...ofTask, runMs: stopwatch.elapsed() },
    )
    return switched
  }

  /** Takes a directive up; see `RunHandle.inject`. */
  inject(input: DirectiveInput): Directive {
    this.#assertRunning()
    const { directives, clock, journal, stopwatch, taskNames, roles } = this.#options
    const taken = directive(input, {
      now: clock.now(),
      targets: [...taskNames(), ...roles()],
      isTaken: (id) => directives.byId([id]).length > 0,
    })
    directives.add(taken)
    const { id, content, to, from, priority, createdAt, expiresAt, actor } = taken
    journal.emit(
      {
        type: 'directive_active',
        directiveId: id,
        ...(from === undefined ? {} : { from }),
        content,
        ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
        ...(to === undefined ? {} : { to }),
        priority,
        ...(actor === undefined ? {} : { actor }),
        activeAt: new Date(createdAt).toISOString(),
      },
      { kind: 'directive_taken', directive: taken, runMs: stopwatch.elapsed() },
    )
    return taken
  }

  #ownModel(taskName: string | undefined): NamedModel | undefined {
    const { ownModel, switches } = this.#options
    const model = ownModel(taskName)
    return model === undefined ? undefined : switches.named(model)
  }

  #cancelNow(mode: CancelMode, reason: unknown): void {
    this.#cancelMode = mode
    const { runId, gates } = this.#options
    if (mode === 'boundary') {
      gates.closeBefore(new TuttiError('CANCELLED', 'The run was cancelled'))
      return
    }
    this.#controller.abort(reason ?? new TuttiError('CANCELLED', `Run ${runId} was cancelled`))
  }

  #assertRunning(): void {
    if (!this.#over) return
    throw new TuttiError('RUN_COMPLETED', `Run ${this.#options.runId} is over`)
  }
}
