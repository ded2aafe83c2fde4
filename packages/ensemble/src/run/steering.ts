/**
 * What people ask of a run in flight: to end, to use another model, to tell the agents something. Each
 * wish is an event and a step, so that readers see it and a resumed run keeps it.
 *
 * S1 A cancel stops what is in flight through one tree of signals; in mode `boundary` the tasks that run
 *    finish, and no other starts.
 * S3 A wish that comes when the run is over, or does not fit it, is refused and changes nothing.
 */
import { isoNow, TuttiError } from '@tutti/core'

import { directive, type DirectiveInput, type Directives } from '../steering/directives.ts'
import { ruleText } from '../definition/model-rule.ts'
import type { ModelRules } from '../steering/model-rules.ts'
import { profileNamed, type RunProfiles } from '../steering/profiles.ts'
import {
  ModelSteering,
  type ModelChoice,
  type ModelSteeringOptions,
  type PlannedSwitch,
} from './model-steering.ts'

import type { Directive, RunStep } from '../ports/run-step.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { CancelOptions, ModelSwitch } from './run-handle.ts'
import type { CancelMode, RunEventOf } from '@tutti/protocol'

/** What steering works on. */
export interface SteeringOptions extends ModelSteeringOptions {
  readonly runId: string
  /** Rules by which the run switches its models. */
  readonly rules: Pick<ModelRules, 'next' | 'switched'>
  /** Profiles that a directive may apply, by name. */
  readonly profiles: RunProfiles
  readonly directives: Directives
  readonly gates: Pick<Reviews, 'closeBefore'>
  /** Roles of the agents of the run. */
  readonly roles: () => readonly string[]
}

/** The wishes that a run has taken. */
export class Steering {
  readonly #options: SteeringOptions
  readonly #models: ModelSteering
  readonly #controller = new AbortController()
  #cancelMode: CancelMode | undefined
  #over = false

  constructor(options: SteeringOptions) {
    this.#options = options
    this.#models = new ModelSteering(options)
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
      if (step.kind === 'model_switched') this.#models.restore(step)
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
    model: ModelChoice,
    { task: taskName, actor }: { readonly task?: string; readonly actor?: string } = {},
  ): ModelSwitch {
    this.#assertRunning()
    const switched = this.#models.make(
      this.#models.plan(model, taskName),
      actor === undefined ? {} : { actor },
    )
    this.#options.rules.switched()
    return switched
  }

  /** Makes the switches of the rules that are met now. */
  followRules(): void {
    const { rules } = this.#options
    for (;;) {
      const met = this.#over || this.stopsStarting ? undefined : rules.next()
      if (met === undefined) return
      const { rule, place } = met
      rules.switched(place)
      this.#models.make(this.#models.plan({ tier: rule.tier }), {
        rule: { text: ruleText(rule), place },
      })
    }
  }

  /** Takes a directive up, and does what it asks; see `RunHandle.inject`. */
  inject(input: DirectiveInput): Directive {
    this.#assertRunning()
    const { directives, clock, journal, stopwatch, taskNames, roles } = this.#options
    const taken = directive(input, {
      now: clock.now(),
      targets: [...taskNames(), ...roles()],
      isTaken: (id) => directives.byId([id]).length > 0,
    })
    // Everything is checked before anything is recorded.
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
    // The step is that of the switch: cut off before it, the run is asked again.
    journal.emit(event)
    this.#models.make(planned, actor === undefined ? {} : { actor })
    this.#options.rules.switched()
    return taken
  }

  /** The switch that a directive asks for; undefined when it asks for none. */
  #planAction({ action, value = '', to }: Directive): PlannedSwitch | undefined {
    if (action === undefined) return undefined
    if (action === 'SET_MODEL_TIER') return this.#models.plan({ tier: value }, to)
    const { tier } = profileNamed(value, this.#options.profiles)
    return this.#models.plan({ tier }, to)
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
