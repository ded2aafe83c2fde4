/**
 * Interprets commands: cancels a run, switches its models, sends directives to its agents, decides its
 * reviews. This is the only code that knows what each kind of command does, to a run in flight and to an
 * unowned one. Each command is recorded as an event and a step, so that readers see it and a resumed run
 * restores it.
 *
 * ENS-S1 A cancel stops work in flight through one tree of signals; in mode `boundary` running tasks finish,
 *    and no other starts. Their waits end with CANCELLED, and their loops begin no other round.
 * ENS-S3 A command that is invalid, or arrives after the end of the run, is rejected and changes nothing.
 */
import { TuttiError } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'

import { describeRule } from '../definition/model-rule.ts'
import { StopController } from '../work/on-abort.ts'
import { isLoss } from '../work/stopped-error.ts'
import { createDirective, type Directives } from './directives.ts'
import { findProfile, type RunProfiles } from './profiles.ts'
import {
  ModelSteering,
  type ModelChoice,
  type ModelSteeringOptions,
  type ModelSwitch,
  type PlannedSwitch,
} from './model-steering.ts'

import type { RunEventOf } from '@tutti/protocol'
import type {
  CancelCause,
  CancelMode,
  DirectiveInput,
  ReplyTo,
  ReviewVerdict,
  RunCommandKind,
  RunCommandOf,
} from '@tutti/protocol/internal'
import type { Directive, RunStep, StepOf } from '../ports/run-step.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { RunScope } from '../scope/run-scope.ts'
import type { ModelRules } from './model-rules.ts'

export interface CancelRunOptions {
  /**
   * `abort` stops model calls, tools and everything that they started; `boundary` lets running tasks finish
   * and starts no others, ends waits, and begins no other round of a loop. @default abort
   */
  readonly mode?: CancelMode
  /** Cause of the cancel. @default SERVER */
  readonly cause?: CancelCause
  /** Name of the caller's API key, for the record. */
  readonly actor?: string
}

/** A cancel that was requested. */
export type CancelOrigin = Pick<StepOf<'cancel_asked'>, 'mode' | 'cause' | 'actor'>

/** Parts of the run to which commands are applied. */
export interface SteeringOptions extends ModelSteeringOptions {
  readonly runId: string
  /** Rules by which the run switches its models. */
  readonly rules: Pick<ModelRules, 'next' | 'switched'>
  /** Profiles that a directive can apply, by name. */
  readonly profiles: RunProfiles
  readonly directives: Directives
  readonly reviews: Pick<Reviews, 'closeAtBoundary' | 'decide'>
  /** Returns the roles of the run's agents. */
  readonly roles: () => readonly string[]
}

type Interpreters = {
  readonly [K in RunCommandKind]: (
    steering: Steering,
    command: RunCommandOf<K>,
  ) => ReplyTo<K> | Promise<ReplyTo<K>>
}

const INTERPRETERS: Interpreters = {
  cancel(steering, options) {
    if (steering.cancel(options)) return { status: 'CANCELLING' }
    throw new TuttiError('RUN_COMPLETED', 'The run has ended')
  },
  switch_model: (steering, { model, ...how }) => steering.switchModel(model, how),
  inject: (steering, { directive: input }) => ({ id: steering.inject(input).id }),
  async decide(steering, { reviewId, decision }) {
    await steering.decide(reviewId, decision)
    return {}
  },
}

/** Applies commands to one run. */
export class Steering {
  readonly #options: SteeringOptions
  readonly #models: ModelSteering
  readonly #controller = new StopController()
  readonly #lost = new StopController()
  #cancel: CancelOrigin | undefined
  #over = false

  constructor(options: SteeringOptions) {
    this.#options = options
    this.#models = new ModelSteering(options)
  }

  /** Aborts when all work must stop. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The signals of the run. */
  get signals(): Pick<RunScope, 'signal' | 'lost'> {
    return { signal: this.signal, lost: this.#lost.signal }
  }

  /** The last cancel; undefined if the run was not cancelled. */
  get cancelled(): CancelOrigin | undefined {
    return this.#cancel
  }

  /** Whether tasks may no longer start. */
  get stopsStarting(): boolean {
    return this.#cancel !== undefined || this.signal.aborted
  }

  /** Rejects every command from now on. */
  close(): void {
    this.#over = true
  }

  /** Stops all work for a reason other than a cancel, such as an exhausted budget. */
  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** Stops all work because the caller stops the run: a cancel, unless the process may no longer work on the run. */
  stop(reason: unknown): void {
    if (isLoss(reason)) this.#lost.abort(reason)
    this.cancel({ mode: 'abort' }, reason)
  }

  /** Restores the commands that an earlier process recorded. */
  restore(steps: readonly RunStep[]): void {
    for (const step of steps) {
      if (step.kind === 'directive_taken') this.#options.directives.add(step.directive)
      if (step.kind === 'model_switched') this.#models.restore(step)
      if (step.kind === 'cancel_asked') this.#cancelNow(step, undefined)
    }
  }

  /**
   * Applies a command and resolves with its reply.
   *
   * @throws {TuttiError} RUN_COMPLETED if the run has ended, and the errors of the methods of `RunHandle`;
   * the run is then unchanged.
   */
  async send<K extends RunCommandKind>(command: RunCommandOf<K>): Promise<ReplyTo<K>> {
    const interpret: Interpreters[K] = INTERPRETERS[command.kind]
    return interpret(this, command)
  }

  /** Decides a review; see `RunHandle.decide`. */
  decide(reviewId: string, verdict: ReviewVerdict): Promise<void> {
    return this.#options.reviews.decide(reviewId, verdict)
  }

  /** Cancels the run; see `RunHandle.cancel`. */
  cancel(
    { mode = 'abort', cause = 'SERVER', actor }: CancelRunOptions = {},
    reason?: unknown,
  ): boolean {
    if (this.#over) return false
    const earlier = this.#cancel?.mode
    if (earlier === undefined || (mode === 'abort' && earlier === 'boundary')) {
      const cancel = { mode, cause, ...(actor === undefined ? {} : { actor }) }
      const { clock, journal, stopwatch } = this.#options
      journal.emit(
        { type: 'run_cancelling', requestedAt: isoNow(clock), ...cancel },
        { kind: 'cancel_asked', ...cancel, runMs: stopwatch.elapsed() },
      )
      this.#cancelNow(cancel, reason)
    }
    return true
  }

  /** Switches the run, or one task, to another model; see `RunHandle.switchModel`. */
  switchModel(
    model: ModelChoice,
    { taskName, actor }: { readonly taskName?: string; readonly actor?: string } = {},
  ): ModelSwitch {
    this.#assertRunning()
    const switched = this.#models.make(
      this.#models.plan(model, taskName),
      actor === undefined ? {} : { actor },
    )
    this.#options.rules.switched()
    return switched
  }

  /** Switches models by all rules whose conditions are met. */
  followRules(): void {
    const { rules } = this.#options
    for (;;) {
      const met = this.#over || this.stopsStarting ? undefined : rules.next()
      if (met === undefined) return
      const { rule, index } = met
      rules.switched(index)
      this.#models.make(this.#models.plan({ tier: rule.tier }), {
        rule: { text: describeRule(rule), index },
      })
    }
  }

  /** Records a directive, and applies its action if it has one; see `RunHandle.inject`. */
  inject(input: DirectiveInput): Directive {
    this.#assertRunning()
    const { directives, clock, journal, stopwatch, taskNames, roles } = this.#options
    const taken = createDirective(input, {
      now: clock.now(),
      targets: [...taskNames(), ...roles()],
      isTaken: (id) => directives.byId([id]).length > 0,
    })
    // Check everything before recording anything.
    const planned = this.#planAction(taken)
    const { id, content, action, value, to, from, priority, createdAt, expiresAt, actor } = taken
    const event: RunEventOf<'directive_active'> = {
      type: 'directive_active',
      directiveId: id,
      ...(from === undefined ? {} : { from }),
      ...(action === undefined ? { content } : {}),
      ...(action === undefined ? {} : { action }),
      ...(value === undefined ? {} : { value }),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
      ...(to === undefined ? {} : { to }),
      priority,
      ...(actor === undefined ? {} : { actor }),
      activeAt: new Date(createdAt).toISOString(),
    }
    if (planned === undefined) {
      directives.add(taken)
      journal.emit(event, { kind: 'directive_taken', directive: taken, runMs: stopwatch.elapsed() })
      return taken
    }
    // The step of the switch is the only step, so after a crash before it the command is applied again.
    journal.emit(event)
    this.#models.make(planned, actor === undefined ? {} : { actor })
    this.#options.rules.switched()
    return taken
  }

  /** Returns the switch that a directive requests; undefined if it has no action. */
  #planAction({ action, value = '', to }: Directive): PlannedSwitch | undefined {
    if (action === undefined) return undefined
    if (action === 'SET_MODEL_TIER') return this.#models.plan({ tier: value }, to)
    const { tier } = findProfile(value, this.#options.profiles)
    return this.#models.plan({ tier }, to)
  }

  #cancelNow(cancel: CancelOrigin, reason: unknown): void {
    this.#cancel = cancel
    const { runId, reviews } = this.#options
    if (cancel.mode === 'boundary') {
      reviews.closeAtBoundary(new TuttiError('CANCELLED', 'The run was cancelled'))
      return
    }
    this.#controller.abort(reason ?? new TuttiError('CANCELLED', `Run ${runId} was cancelled`))
  }

  #assertRunning(): void {
    if (!this.#over) return
    throw new TuttiError('RUN_COMPLETED', `Run ${this.#options.runId} has ended`)
  }
}
