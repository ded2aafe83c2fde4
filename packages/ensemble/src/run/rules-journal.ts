/** Passes the recorded model calls of a run to its model rules. */
import type { RunJournal } from '../ports/run-journal.ts'
import type { ModelRules } from '../steering/model-rules.ts'
import type { RunEvent } from '@tutti/protocol'

/** Parts of a rules journal in addition to the journal. */
export interface RulesJournalOptions {
  readonly rules: ModelRules
  /** Returns the working time of the run in milliseconds. */
  readonly elapsed: () => number
  /** Called after each model call that the rules have counted. */
  readonly onCounted: () => void
}

/** Wraps a journal so that the rules count its model calls, and failed calls become steps. */
export function createRulesJournal(
  journal: RunJournal,
  { rules, elapsed, onCounted }: RulesJournalOptions,
): RunJournal {
  if (rules.isEmpty) return journal
  const count = (event: RunEvent | undefined): void => {
    if (event?.type === 'llm_iteration_completed') {
      const { latencyMs, costUsd } = event
      rules.observe({ kind: 'answered', latencyMs, costUsd })
      onCounted()
    } else if (event?.type === 'llm_iteration_failed') {
      rules.observe({ kind: 'failed' })
      onCounted()
    }
  }
  return {
    emit(event, step) {
      const isFailure = event.type === 'llm_iteration_failed'
      journal.emit(event, isFailure ? { kind: 'model_failed', runMs: elapsed() } : step)
      count(event)
    },
    commit(step, event) {
      const committed = journal.commit(step, event)
      count(event)
      return committed
    },
  }
}
