/**
 * Switches the models of a run: checks a switch, makes it, and records it in events and one step.
 *
 * ENS-S2 A switch applies from the next model call on, for the run or for one task; the last one counts.
 * ENS-S5 A switch names the model that it replaces, also the first switch; it names none for a run whose
 *    tasks have their own models.
 * ENS-S7 A switch to a tier for which each task has its own model emits one event per task and records one
 *    step.
 */
import { TuttiError, type Clock } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'

import { isSameTier } from '../model/model-catalog.ts'
import { resolveTier, type TierChoice } from './tiers.ts'

import type { ReplyTo } from '@tutti/protocol/internal'
import type { ChatModel } from '../model/chat-model.ts'
import type { ModelOfTasks } from '../definition/model-of-task.ts'
import type { RunJournal } from '../ports/run-journal.ts'
import type { ModelSwitchedStep } from '../ports/run-step.ts'
import type { Stopwatch } from '../work/stopwatch.ts'
import type { AppliedSwitch, ModelSwitches } from './models.ts'

/** Parts of a run that switches use. */
export interface ModelSteeringOptions {
  readonly clock: Clock
  readonly journal: Pick<RunJournal, 'emit'>
  readonly stopwatch: Pick<Stopwatch, 'elapsed'>
  readonly switches: ModelSwitches
  /** Returns the model of a task without any switch. */
  readonly ownModel: ModelOfTasks
  /** Returns the first fallback model of a task. */
  readonly fallbackModel: ModelOfTasks
  /** Names of the run's tasks. */
  readonly taskNames: () => readonly string[]
}

/** Target of a switch: the alias of a model, a model itself, or a tier. */
export type ModelChoice = string | ChatModel | TierChoice

/** Result of a switch. */
export type ModelSwitch = ReplyTo<'switch_model'>

/** A switch that has been checked but not made. */
export interface PlannedSwitch {
  readonly to: AppliedSwitch['to']
  /** Task to switch; undefined for the whole run. */
  readonly taskName: string | undefined
  readonly tier: string | undefined
}

/** Source of a switch: a caller or a rule. */
export interface SwitchOrigin {
  /** Name of the caller's API key. */
  readonly actor?: string
  /** Rule of the ensemble: its text and its index. */
  readonly rule?: { readonly text: string; readonly index: number }
}

/** Makes the switches of one run. */
export class ModelSteering {
  readonly #options: ModelSteeringOptions

  constructor(options: ModelSteeringOptions) {
    this.#options = options
  }

  /** Whether any task has a fallback model. */
  get hasFallback(): boolean {
    const { taskNames, fallbackModel } = this.#options
    return taskNames().some((name) => fallbackModel(name) !== undefined)
  }

  /**
   * Checks a switch.
   *
   * @throws {TuttiError} INVALID_MODEL for an unknown alias or tier, BAD_REQUEST for an unknown task.
   */
  plan(choice: ModelChoice, taskName?: string): PlannedSwitch {
    const { switches, taskNames } = this.#options
    if (taskName !== undefined && !taskNames().includes(taskName)) {
      const known = taskNames().join(', ')
      throw new TuttiError(
        'BAD_REQUEST',
        `Cannot switch the model: no task is named "${taskName}". Available: [${known}]`,
      )
    }
    if (typeof choice === 'string' || !('tier' in choice)) {
      return { to: switches.resolve(choice), taskName, tier: undefined }
    }
    const found = resolveTier(choice.tier, switches.catalog, this.hasFallback)
    const to = found.kind === 'alias' ? switches.resolve(found.alias) : found.tier
    return { to, taskName, tier: found.tier }
  }

  /** Makes a switch and records it. */
  make({ to, taskName, tier }: PlannedSwitch, { actor, rule }: SwitchOrigin = {}): ModelSwitch {
    const { clock, journal, stopwatch, switches, taskNames } = this.#options
    const label = this.#label(to, taskName)
    const each = taskNames().filter((name) => this.#label(to, name) !== undefined)
    // If tasks have their own models in the tier, each task gets its own event.
    const targets =
      label === undefined && taskName === undefined && each.length > 0 ? each : [taskName]
    const switched = targets.map((target) => {
      const previous = this.#label(switches.of(target)?.to ?? 'PRIMARY', target)
      return {
        model: this.#label(to, target) ?? tier ?? '',
        ...(previous === undefined ? {} : { previousModel: previous }),
        ...(target === undefined ? {} : { taskName: target }),
        ...(tier === undefined ? {} : { tier }),
      }
    })
    switches.switch(to, taskName)
    const model = label ?? tier ?? ''
    const step: ModelSwitchedStep = {
      kind: 'model_switched',
      model,
      ...(taskName === undefined ? {} : { taskName }),
      ...(tier === undefined ? {} : { tier }),
      ...(rule === undefined ? {} : { rule: rule.index }),
      runMs: stopwatch.elapsed(),
    }
    const origin = {
      switchedAt: isoNow(clock),
      ...(actor === undefined ? {} : { actor }),
      ...(rule === undefined ? {} : { rule: rule.text }),
    }
    for (const [index, one] of switched.entries()) {
      const event = { type: 'model_switched', ...one, ...origin } as const
      if (index === 0) journal.emit(event, step)
      else journal.emit(event)
    }
    const previousModel = switched.length === 1 ? switched[0]?.previousModel : undefined
    return {
      model,
      ...(previousModel === undefined ? {} : { previousModel }),
      ...(tier === undefined ? {} : { tier }),
    }
  }

  /** Restores a switch that an earlier process made. */
  restore({ model, tier, taskName }: ModelSwitchedStep): void {
    const { switches } = this.#options
    switches.switch(findBuiltInTier(tier, switches) ?? switches.resolve(model), taskName)
  }

  /** Returns the name of the target in events, for one task or for all; undefined if the tasks differ. */
  #label(to: AppliedSwitch['to'], taskName: string | undefined): string | undefined {
    const { switches, ownModel, fallbackModel } = this.#options
    if (typeof to === 'object') return to.label
    const fallback = to === 'FALLBACK' ? fallbackModel(taskName) : undefined
    // A single task without a fallback model uses its own model. Without a task, some tasks may have one and
    // others not.
    const isOwn = to === 'PRIMARY' || taskName !== undefined
    const model = fallback ?? (isOwn ? ownModel(taskName) : undefined)
    return model === undefined ? undefined : switches.named(model).label
  }
}

/** Returns the built-in tier that a step names; undefined for a tier of the catalog, which is one model. */
export function findBuiltInTier(
  tier: string | undefined,
  { catalog }: Pick<ModelSwitches, 'catalog'>,
): 'PRIMARY' | 'FALLBACK' | undefined {
  if (tier === 'PRIMARY') return tier
  const isOfCatalog = [...(catalog?.tiers.keys() ?? [])].some((name) =>
    isSameTier(name, 'FALLBACK'),
  )
  return tier === 'FALLBACK' && !isOfCatalog ? tier : undefined
}
